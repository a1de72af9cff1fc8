package provider

import (
	"strings"

	"pi/agent/llm"
	"pi/session/message"
)

// What the user and tools give is text and images in every API; only the form of a part
// is its own.

// ImageOmitted replaces an image that the model cannot take.
const ImageOmitted = "[image left out: this model takes text only]"

// NoOutput replaces a result without text: several servers refuse an empty one.
const NoOutput = "(no output)"

// ImageFollows stands where a tool result is nothing but an image, which the server takes
// behind it only.
const ImageFollows = "(the image follows)"

// Parts writes text and images, in the form that text and image give them. Texts that says
// refuses are left out, see [NotEmpty] and [NotBlank]; a model that takes no images gets a
// note instead of each.
func Parts[P any](m *llm.Model, blocks []message.Block, says func(string) bool, text func(string) P, image func(*message.Block) P) []P {
	var parts []P
	for i := range blocks {
		switch b := &blocks[i]; {
		case b.Type == message.BlockText && says(b.Text):
			parts = append(parts, text(b.Text))
		case b.Type == message.BlockImage && !m.TakesImages():
			parts = append(parts, text(ImageOmitted))
		case b.Type == message.BlockImage:
			parts = append(parts, image(b))
		}
	}
	return parts
}

// NotEmpty is for servers that take texts of nothing but blanks, and no empty ones.
func NotEmpty(text string) bool { return text != "" }

// NotBlank is for servers that refuse texts of nothing but blanks.
func NotBlank(text string) bool { return strings.TrimSpace(text) != "" }

// Result takes the parts of a tool result apart: its text, which is never empty, and its
// images, which are what has no textOf. onlyImages is the text of a result that has no other.
func Result[P any](parts []P, textOf func(P) *string, onlyImages string) (text string, images []P) {
	var texts []string
	for _, p := range parts {
		if s := textOf(p); s != nil {
			texts = append(texts, *s)
		} else {
			images = append(images, p)
		}
	}
	text = strings.Join(texts, "\n")
	switch {
	case text == "" && len(images) > 0:
		text = onlyImages
	case text == "":
		text = NoOutput
	}
	return text, images
}
