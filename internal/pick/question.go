package pick

import (
	"fmt"
	"strings"

	"pi/internal/cells"
	"pi/internal/edit"
	"pi/internal/keys"
	"pi/internal/printable"
)

// Question is what a dialog asks.
type Question struct {
	Title   string // it may have several lines
	Message string // what there is to know for an answer, such as a command; shown below
	Hook    string // the hook that asks; "" if the program does
	Palette Palette
}

// question draws a [Question] above the row in which it is answered. What has no room can
// be scrolled to, since a user has to read what they agree to.
type question struct {
	heading
	message string
	from    int // the first row that is shown below that of the title
	page    int // how many are
	last    int // the greatest from
}

func newQuestion(q Question) question {
	return question{heading: newHeading(q.Title, "", q.Hook, q.Palette), message: strings.Trim(printable.Text(q.Message), "\n")}
}

// text draws the question in at most height rows: the first row of the title, and as much
// as fits of the rest.
func (q *question) text(width, height int) (rows []string) {
	if height <= 0 {
		return nil
	}
	body := q.heading.rows(width, 1<<16)
	if q.message != "" {
		body = append(body, cutRows(cells.Wrap(q.message, width), width, 1<<16)...)
	}
	if len(body) <= height {
		q.from, q.last, q.page = 0, 0, height
		return body
	}
	if height == 1 {
		return q.heading.rows(width, 1)
	}
	q.page = max(1, height-2) // and the row that says what is missing
	q.last = len(body) - 1 - q.page
	q.from = max(0, min(q.from, q.last))
	rows = append(body[:1:1], body[1+q.from:1+q.from+q.page]...)
	if height > 2 {
		rows = append(rows, q.Paint("dim", cells.Cut(missing(q.from, q.last-q.from), width)))
	}
	return rows
}

// missing says how many rows are out of sight.
func missing(above, below int) string {
	switch {
	case above == 0:
		return fmt.Sprintf("… %d more · PgDn", below)
	case below == 0:
		return fmt.Sprintf("… %d before · PgUp", above)
	}
	return fmt.Sprintf("… %d before, %d more · PgUp/PgDn", above, below)
}

// scroll moves what is shown of the question. It reports false for a key that does not.
func (q *question) scroll(key string) bool {
	switch key {
	case "up":
		q.from--
	case "down":
		q.from++
	case "pageup":
		q.from -= q.page
	case "pagedown":
		q.from += q.page
	default:
		return false
	}
	q.from = max(0, min(q.from, q.last))
	return true
}

// Answer is what a user said to a [Confirm].
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

// Confirm asks a question with y or n. Enter and Esc are no. It is a panel.
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
func (c *Confirm) Key(k keys.Key) (used bool) {
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

// Answer is what the user said; No if they left, or have not answered.
func (c *Confirm) Answer() Answer { return c.answer }

// Cancelled reports whether the user left without an answer.
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

// Input asks for a row of text. It is a panel.
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
func (i *Input) Key(k keys.Key) (used bool) {
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

// Done reports whether the user answered or left.
func (i *Input) Done() bool { return i.done }

// Text is what the user typed; ok is false if they left, or have not answered.
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

// heading is what stands above the rows of a panel: the question, who asks it, and what
// else is worth knowing, such as the time that is left.
type heading struct {
	Palette
	title, right, hook, note string
}

func newHeading(title, right, hook string, p Palette) heading {
	return heading{Palette: p, title: title, right: right, hook: hook}
}

// SetNote sets what stands first in the question, such as the time that is left for an
// answer; "" takes it away.
func (h *heading) SetNote(note string) { h.note = note }

// rows are the question, wrapped. The last of at most height rows ends in an ellipsis, if
// some are missing.
func (h *heading) rows(width, height int) (rows []string) {
	rows = cutRows(cells.Wrap(h.before(width)+strings.Trim(printable.Text(h.title), "\n"), width), width, height)
	for i, row := range rows {
		rows[i] = h.Paint("bold", row)
	}
	return rows
}

// before is what stands in front of the question, short enough to leave it room.
func (h *heading) before(width int) string {
	text := ""
	for _, part := range []string{h.hook, h.note} {
		if part != "" {
			text += "[" + cells.Cut(printable.Line(part), max(4, width/3)) + "] "
		}
	}
	return text
}

// behind appends to a row what stands to the right, if it fits.
func (h *heading) behind(row, text string, width int) string {
	if text = printable.Line(text); text == "" || cells.Width(row)+2+cells.Width(text) > width {
		return row
	}
	return row + "  " + h.Paint("dim", text)
}

// cutRows shortens rows to a number, and each to the width.
func cutRows(rows []string, width, height int) []string {
	if len(rows) > height {
		rows = rows[:max(height, 0)]
		if height > 0 {
			rows[height-1] += " …"
		}
	}
	for i, row := range rows {
		rows[i] = strings.TrimRight(cells.Cut(row, width), " ")
	}
	return rows
}

// fitting joins as many of the parts as fit into a row, in their order. A part that is
// needed has room before those that are not.
func fitting(parts []part, width int) string {
	const between = " · "
	used, taken := -cells.Width(between), make([]bool, len(parts))
	for _, needed := range []bool{true, false} {
		for i, p := range parts {
			if n := cells.Width(between + p.text); p.needed == needed && used+n <= width {
				used, taken[i] = used+n, true
			}
		}
	}
	var texts []string
	for i, p := range parts {
		if taken[i] {
			texts = append(texts, p.text)
		}
	}
	return strings.Join(texts, between)
}

// part is one of the things that a legend tells.
type part struct {
	text   string
	needed bool
}
