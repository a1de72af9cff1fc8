package edit

import (
	"strings"

	"pi/internal/cells"
)

// Box is a text of several rows that is edited as the input is, in a form or a panel: Enter
// submits it, Ctrl+J and Shift+Enter break a line. It scrolls inside of its rows. The zero
// Box is empty and ready. It is not safe for concurrent use.
type Box struct {
	// Prompt stands before the first row, and as many blanks before the others. It may have
	// colours.
	Prompt string
	// Placeholder is shown while there is no text.
	Placeholder string
	// Faint draws the placeholder; nil draws it as it is.
	Faint func(text string) string

	buffer *Buffer
}

// Key gives the box a key by its name, with the text that it types. Up in the first row, Down
// in the last one, and keys that it does not know are Unused.
func (x *Box) Key(name, text string) Outcome {
	b := x.edited()
	switch name {
	case "enter":
		return Submitted
	case "ctrl+j", "shift+enter":
		b.Do("newline")
		return Used
	case "paste":
		b.Paste(text)
		return Used
	}
	if outcome := left(name, b); outcome != Unused {
		return outcome
	}
	action := Keys()[name]
	switch {
	case action == "up", action == "down":
		if !b.Do(action) {
			return Unused
		}
	case action != "":
		b.Do(action)
	case text == "":
		return Unused
	default:
		b.Insert(text)
	}
	return Used
}

// left is the outcome of a key that leaves a field without an answer, else Unused.
func left(name string, b *Buffer) Outcome {
	switch {
	case name == "esc", name == "ctrl+c", name == "ctrl+d" && b.Empty():
		return Cancelled
	}
	return Unused
}

// Set replaces the text and puts the cursor behind it.
func (x *Box) Set(text string) { x.edited().Set(text, -1) }

// Text is the text.
func (x *Box) Text() string { return x.edited().Text() }

func (x *Box) edited() *Buffer {
	if x.buffer == nil {
		x.buffer = New()
	}
	return x.buffer
}

// Render draws at most height of the rows in width cells, each at least 1, the cursor's among
// them.
func (x *Box) Render(width, height int) View {
	b := x.edited()
	v := b.Window(width, height, x.Prompt, strings.Repeat(" ", cells.Width(x.Prompt)))
	if b.Empty() {
		v.Rows[0] += placeholder(x.Placeholder, max(1, width-v.Column), x.Faint)
	}
	return v
}
