package pick

import (
	"strings"

	"pi/internal/cells"
	"pi/repl/terminal"
)

// Answer is what a person said to a [Confirm].
type Answer int

// The answers. No is the default.
const (
	No Answer = iota
	Yes
	Always // yes, and the same for the rest of the session
)

func (a Answer) String() string {
	return [...]string{"no", "yes", "always in this session"}[a]
}

// Confirm asks a question with y or n. Enter and Esc are no. It is a [terminal.Panel].
type Confirm struct {
	question
	always    bool
	answer    Answer
	done      bool
	cancelled bool
}

// NewConfirm returns a question. With always, "always in this session" is offered too.
func NewConfirm(q Question, always bool) *Confirm {
	return &Confirm{question: newQuestion(q), always: always}
}

// Key gives the question a key.
func (c *Confirm) Key(k terminal.Key) (used bool) {
	if k.Release || c.done {
		return false
	}
	switch k.Name {
	case "enter":
		c.done = true
	case "esc", "ctrl+c", "ctrl+d":
		c.done, c.cancelled = true, true
	default:
		if c.scroll(k.Name) {
			return true
		}
		if k.Name == "paste" {
			return false // nobody agrees by a paste
		}
		if strings.TrimSpace(k.Text) != "" { // the space bar is no answer
			c.answer, c.done = ParseAnswer(k.Text, c.always)
		}
		return c.done
	}
	return true
}

// Done reports whether there is an answer.
func (c *Confirm) Done() bool { return c.done }

// Answer is what the person said; No if they left, or have not answered.
func (c *Confirm) Answer() Answer { return c.answer }

// Cancelled reports whether the person left without an answer.
func (c *Confirm) Cancelled() bool { return c.cancelled }

// Render draws the question with the row of the answer below it.
func (c *Confirm) Render(width, height int) (rows []string, cursorRow, cursorColumn int) {
	width, height = max(width, 1), max(height, 1)
	prompt := ConfirmPrompt(c.always)
	if height == 1 {
		title := c.heading.rows(max(1, width-cells.Width(prompt)-1), 1)
		row := cells.Cut(strings.Join(title, "")+" "+prompt, width)
		return []string{strings.TrimRight(row, " ")}, 0, min(cells.Width(row), width-1)
	}
	rows = c.text(width, height-1)
	row := c.Paint("bold", prompt)
	parts := []part{{"y yes", true}, {"n no", true}}
	if c.always {
		parts = append(parts, part{"a always in this session", true})
	}
	if room := width - cells.Width(prompt) - 2; room > 0 {
		row += strings.TrimRight("  "+c.Paint("dim", fitting(append(parts, part{"Esc no", false}), room)), " ")
	}
	rows = append(rows, cells.Cut(row, width))
	return rows, len(rows) - 1, min(cells.Width(prompt), width-1)
}

// ConfirmPrompt is what stands before the answer.
func ConfirmPrompt(always bool) string {
	if always {
		return "[y/N/a] "
	}
	return "[y/N] "
}

// ParseAnswer reads an answer that was typed: y, yes, n, no, and a or always where that is
// offered; an empty line is no. ok is false for anything else.
func ParseAnswer(line string, always bool) (a Answer, ok bool) {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return Yes, true
	case "", "n", "no":
		return No, true
	case "a", "always":
		if always {
			return Always, true
		}
	}
	return No, false
}

var _ terminal.Panel = (*Confirm)(nil)
