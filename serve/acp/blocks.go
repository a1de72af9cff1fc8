package acp

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"pi/agent"
	"pi/session/message"
)

// asked is a prompt as the client has sent it.
type asked struct {
	blocks []part
	text   string // up to the first image, or what follows those at the beginning
	rest   []message.Block
}

// prompt makes the prompt for the agent.
func (a asked) prompt() agent.Prompt {
	return agent.Prompt{Text: a.text, Attachments: a.rest, Source: "acp", Literal: true}
}

// readPrompt reads the blocks of a prompt.
func readPrompt(f fields) (asked, error) {
	elements, ok := f.list("prompt")
	switch {
	case !f.isGiven("prompt"):
		return asked{}, newError(codeParams, `"prompt" is missing; it must be a list of content`)
	case !ok:
		return asked{}, newError(codeParams, `"prompt" must be a list of content`)
	}
	var blocks []part
	for i, element := range elements {
		b, err := readBlock(element)
		if err != nil {
			return asked{}, newError(codeParams, "prompt[%d]: %v", i, err)
		}
		blocks = append(blocks, b)
	}
	a := asked{blocks: blocks}
	a.text, a.rest = assemble(blocks)
	isSomething := func(b message.Block) bool {
		return b.Type == message.BlockImage || strings.TrimSpace(b.Text) != ""
	}
	if strings.TrimSpace(a.text) == "" && !slices.ContainsFunc(a.rest, isSomething) {
		return asked{}, newError(codeParams, `"prompt" is empty`)
	}
	return a, nil
}

// lines yields what may be a command: the first block, and the last text, without the white
// space around them. With it comes the rest, which goes along with a command.
func (a asked) lines(yield func(line string, rest []part) bool) {
	last := -1
	for i, b := range a.blocks {
		if b.kind == partText && strings.TrimSpace(b.text) != "" {
			last = i
		}
	}
	for _, at := range slices.Compact([]int{0, last}) {
		if at < 0 || at >= len(a.blocks) || a.blocks[at].kind != partText {
			continue
		}
		if !yield(strings.TrimSpace(a.blocks[at].text), slices.Concat(a.blocks[:at], a.blocks[at+1:])) {
			return
		}
	}
}

// part is one block of a prompt, made ready for the model.
type part struct {
	kind  partKind
	text  string
	image message.Block
}

type partKind int

const (
	partText partKind = iota
	partLink          // in the text, where it stands
	partFile          // a text of its own
	partImage
)

// assemble joins the parts up to the first image to one text; what follows comes in its
// order. Images at the beginning follow the text, so that who reads the text of a prompt
// does not find it empty.
func assemble(parts []part) (text string, rest []message.Block) {
	first := 0
	for first < len(parts) && parts[first].kind == partImage {
		first++
	}
	text, n := joined(parts[first:])
	for _, p := range parts[:first] {
		rest = append(rest, p.image)
	}
	for at := first + n; at < len(parts); {
		if parts[at].kind == partImage {
			rest = append(rest, parts[at].image)
			at++
			continue
		}
		more, n := joined(parts[at:])
		rest = append(rest, message.TextBlock(more))
		at += n
	}
	return text, rest
}

// joined joins the parts before the first image, and counts them. Links stand within the
// text; blocks of text and files stand on lines of their own.
func joined(parts []part) (text string, n int) {
	var b strings.Builder
	for i, p := range parts {
		if p.kind == partImage {
			return b.String(), i
		}
		if i > 0 && b.Len() > 0 && (p.kind == partFile || parts[i-1].kind == partFile || p.kind == partText && parts[i-1].kind == partText) &&
			!strings.HasSuffix(b.String(), "\n") && !strings.HasPrefix(p.text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(p.text)
	}
	return b.String(), len(parts)
}

// readBlock reads one block of content.
func readBlock(element json.RawMessage) (part, error) {
	f, err := parseFields(element)
	if err != nil {
		return part{}, fmt.Errorf("it must be an object")
	}
	kind, err := f.needText("type")
	if err != nil {
		return part{}, err
	}
	switch kind {
	case "text":
		text, err := f.needText("text")
		return part{kind: partText, text: text}, err
	case "image":
		data, err := f.needText("data")
		if err != nil {
			return part{}, err
		}
		return readImage(data)
	case "resource_link":
		return readLink(f)
	case "resource":
		return readResource(f)
	case "audio":
		return part{}, fmt.Errorf("audio is not supported")
	}
	return part{}, fmt.Errorf("content of the type %q is not known", cut(kind, 40))
}

// readImage reads an image. What it is, its bytes say.
func readImage(data string) (part, error) {
	start, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return part{}, fmt.Errorf(`"data" is not base64`)
	}
	mime := message.ImageType(start)
	if mime == "" {
		return part{}, fmt.Errorf("it is no image that models can see: PNG, JPEG, GIF and WebP are")
	}
	return part{kind: partImage, image: message.Block{Type: message.BlockImage, MimeType: mime, Data: data}}, nil
}

// readLink reads a link to something, which is named to the model and not fetched.
func readLink(f fields) (part, error) {
	uri, err := f.needText("uri")
	if err != nil {
		return part{}, err
	}
	name, err := f.needText("name")
	if err != nil {
		return part{}, err
	}
	if name == "" {
		name = uri
	}
	return part{kind: partLink, text: "[@" + name + "](" + uri + ")"}, nil
}

// readResource reads something that came along: text, or an image.
func readResource(f fields) (part, error) {
	r := f.object("resource")
	if r == nil {
		return part{}, fmt.Errorf(`"resource" must be an object`)
	}
	uri, err := r.needText("uri")
	if err != nil {
		return part{}, err
	}
	if text, ok := r.text("text"); ok {
		return part{kind: partFile, text: fileText(uri, text)}, nil
	}
	blob, err := r.needText("blob")
	if err != nil {
		return part{}, fmt.Errorf(`"resource" must have "text" or "blob", a string`)
	}
	data, err := base64.StdEncoding.DecodeString(blob)
	switch {
	case err != nil:
		return part{}, fmt.Errorf(`"blob" is not base64`)
	case message.ImageType(data) != "":
		return readImage(blob)
	case utf8.Valid(data) && !strings.ContainsRune(string(data), 0):
		return part{kind: partFile, text: fileText(uri, string(data))}, nil
	}
	return part{}, fmt.Errorf("%s is neither text nor an image that models can see", nameOf(uri))
}

// fileText is how the model sees the text of a file.
func fileText(uri, text string) string {
	return fmt.Sprintf("<file name=%q uri=%q>\n%s\n</file>", nameOf(uri), uri, strings.TrimSuffix(text, "\n"))
}

// nameOf returns the path of a file, or the last part of another address.
func nameOf(uri string) string {
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Path == "":
		return uri
	case u.Scheme == "file":
		return u.Path
	}
	return path.Base(u.Path)
}
