package edit

import (
	"strings"

	"pi/internal/cells"
)

// Field is one row of text that is edited as the input is: a filter, the answer to a
// question, a key. Line ends that are typed or pasted into it become blanks, and pastes
// no tokens. The zero Field is empty and ready. It is not safe for concurrent use.
type Field struct {
	// Placeholder is shown while there is no text.
	Placeholder string
	// Faint draws the placeholder; nil draws it as it is.
	Faint func(text string) string
	// Masked shows each character as a dot.
	Masked bool
	// Action names the action of a key; nil means Keys.
	Action func(key string) string

	buffer *Buffer
	scroll int // elements that are left of what is shown
}

// Outcome is what a key did to a Field.
type Outcome int

// The outcomes of a key.
const (
	Unused    Outcome = iota // the key is none of the field's
	Used                     // the text or the cursor may have changed
	Submitted                // Enter
	Cancelled                // Esc or Ctrl+C, or Ctrl+D without a text
)

// Key gives the field a key by its name, with the text that it types. Up, Down and
// keys that it does not know are Unused.
func (f *Field) Key(name, text string) Outcome {
	b := f.edited()
	if name == "enter" {
		return Submitted
	}
	if outcome := left(name, b); outcome != Unused {
		return outcome
	}
	if action := f.action(name); action != "" && action != "newline" {
		if action == "up" || action == "down" {
			return Unused
		}
		b.Do(action)
		return Used
	}
	if text == "" {
		return Unused
	}
	f.Insert(text)
	return Used
}

func (f *Field) action(key string) string {
	if f.Action != nil {
		return f.Action(key)
	}
	return Keys()[key]
}

// Insert puts a text at the cursor.
func (f *Field) Insert(text string) { f.edited().Insert(oneRow(text)) }

// Set replaces the text and puts the cursor behind it.
func (f *Field) Set(text string) { f.edited().Set(oneRow(text), -1) }

// Text is the text.
func (f *Field) Text() string { return f.edited().Text() }

// Empty reports whether there is no text.
func (f *Field) Empty() bool { return f.edited().Empty() }

func (f *Field) edited() *Buffer {
	if f.buffer == nil {
		f.buffer = New()
	}
	return f.buffer
}

func oneRow(text string) string { return strings.ReplaceAll(normal(text), "\n", " ") }

// Render draws the part of the text around the cursor in at most width cells, at least 1,
// and tells in which of them the cursor is.
func (f *Field) Render(width int) (row string, column int) {
	b := f.edited()
	width = max(1, width)
	if b.Empty() {
		return placeholder(f.Placeholder, width, f.Faint), 0
	}
	elements, cursor := b.text.lines[0].elements, b.cursor.col
	f.scrollTo(elements, cursor, width)
	end, used := f.scroll, 0
	for ; end < len(elements); end++ {
		n := f.cells(elements[end], width)
		if used+n > width {
			break
		}
		used += n
	}
	for _, e := range elements[f.scroll:cursor] {
		column += f.cells(e, width)
	}
	return f.paint(elements[f.scroll:end], width), column
}

// placeholder draws what is shown while there is no text; faint may be nil.
func placeholder(text string, width int, faint func(text string) string) string {
	text = cells.Cut(oneRow(text), width)
	if faint == nil || text == "" {
		return text
	}
	return faint(text)
}

// scrollTo scrolls so that the cursor has a cell, and so that no room is left unused
// while there is text to the left.
func (f *Field) scrollTo(elements []element, cursor, width int) {
	f.scroll = min(f.scroll, cursor, len(elements))
	used := 0
	for _, e := range elements[f.scroll:cursor] {
		used += f.cells(e, width)
	}
	for ; used >= width && f.scroll < cursor; f.scroll++ {
		used -= f.cells(elements[f.scroll], width)
	}
	for _, e := range elements[cursor:] {
		used += f.cells(e, width)
	}
	for used++; f.scroll > 0; f.scroll-- {
		if used += f.cells(elements[f.scroll-1], width); used > width {
			break
		}
	}
}

// cells is what an element takes in a row of that width. A tab takes one cell, and a sign
// leaves one for the cursor.
func (f *Field) cells(e element, width int) int {
	if f.Masked || e.text == "\t" {
		return 1
	}
	if e.width >= width && e.sign() != e.text {
		return max(1, width-1)
	}
	return e.cells(0, width)
}

func (f *Field) paint(elements []element, width int) string {
	var out strings.Builder
	for _, e := range elements {
		switch {
		case f.Masked:
			out.WriteString("•")
		case e.text == "\t":
			out.WriteString(" ")
		case e.width > f.cells(e, width):
			out.WriteString(e.cut(f.cells(e, width)))
		default:
			out.WriteString(e.sign())
		}
	}
	return out.String()
}
