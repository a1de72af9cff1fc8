package pick

import (
	"strings"

	"pi/internal/edit"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// Input asks for a row of text. It is a [terminal.Panel].
type Input struct {
	question
	field  edit.Field
	prompt string
	done   bool
	ok     bool
}

// InputOptions say how an [Input] asks.
type InputOptions struct {
	Question
	Placeholder string // shown while nothing is typed
	Text        string // what is there to begin with
	Masked      bool   // what is typed is not shown: a key
}

// NewInput returns a question for a row of text.
func NewInput(o InputOptions) *Input {
	i := &Input{question: newQuestion(o.Question), prompt: "? "}
	i.field.Placeholder, i.field.Masked = printable.Line(o.Placeholder), o.Masked
	i.field.Faint = func(text string) string { return i.Paint("dim", text) }
	i.field.Set(o.Text)
	return i
}

// Key gives the question a key.
func (i *Input) Key(k terminal.Key) (used bool) {
	if k.Release || i.done {
		return false
	}
	switch i.field.Key(k.Name, k.Text) {
	case edit.Submitted:
		i.done, i.ok = true, true
	case edit.Cancelled:
		i.done = true
	case edit.Unused:
		return i.scroll(k.Name)
	}
	return true
}

// Done reports whether the person answered or left.
func (i *Input) Done() bool { return i.done }

// Text is what the person typed; ok is false if they left, or have not answered.
func (i *Input) Text() (text string, ok bool) {
	if !i.ok {
		return "", false
	}
	return i.field.Text(), true
}

// Render draws the question with the row of the text below it.
func (i *Input) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	width, height = max(width, 1), max(height, 1)
	rows = i.text(width, height-1)
	prompt := i.prompt
	if width < 6 {
		prompt = ""
	}
	text, column := i.field.Render(width - len(prompt))
	rows = append(rows, strings.TrimRight(i.Paint("bold", prompt)+text, " "))
	cursorRow = len(rows) - 1
	if legend := fitting([]part{{"Enter answer", true}, {"Esc", true}}, width); legend != "" && len(rows) < height {
		rows = append(rows, i.Paint("dim", legend))
	}
	return rows, cursorRow, min(len(prompt)+column, width-1)
}

var _ terminal.Panel = (*Input)(nil)
