package repl

import (
	"slices"
	"strings"
	"time"

	"pi/internal/cells"
	"pi/internal/edit"
	"pi/repl/terminal"
	"pi/repl/terminal/history"
)

// line is the text being typed, with what is open below it: the menu of completions or
// the search of the history. There is one at all times. The lock of the screen guards
// it.
type line struct {
	buffer      *edit.Buffer
	keys        keyTable
	history     *history.History
	walk        *history.Walk
	overlay     terminal.Panel // nil: none; it has the keys first
	completions completions
	placed      bool      // the text is one that the program put there; a slash that is typed takes its place
	refused     string    // the text, if it was refused as a command: another Enter sends it as a message
	warned      time.Time // when Ctrl+C in an empty line told how to quit

	before      string // plain mode: the lines so far of an input whose last one ended in a backslash
	given       string // plain mode: the text that the prompt began with, if a slash takes its place
	shownStatus string // plain mode: the status line that is shown already
}

// newLine is an empty line with the history of a file.
func newLine(keys keyTable, past *history.History) *line {
	return &line{buffer: edit.New(), keys: keys, history: past, walk: past.Walk()}
}

func (l *line) empty() bool { return l.buffer.Empty() }

func (l *line) text() string { return l.buffer.Text() }

// set replaces the text, which can be undone.
func (l *line) set(text string) {
	l.buffer.Set(text, -1)
	l.overlay, l.refused, l.placed = nil, "", false
}

// setTyped is set for a text that the person wrote elsewhere.
func (l *line) setTyped(text string) {
	l.buffer.SetTyped(text, -1)
	l.overlay, l.refused, l.placed = nil, "", false
}

// clear removes the text, which can be undone.
func (l *line) clear() {
	l.buffer.Clear()
	l.overlay, l.refused, l.placed = nil, "", false
}

// reset begins a new line: nothing of the old one can be undone.
func (l *line) reset() {
	l.buffer.Reset()
	l.overlay, l.refused, l.placed, l.completions.left = nil, "", false, 0
	l.walk = l.history.Walk()
}

// place puts lines that were sent and not done, or such as the program makes, as rows above
// what is typed. Where nothing is, a command may be meant next: a slash that is typed takes
// the place of the text, and undoing that brings it back.
func (l *line) place(lines ...job) {
	placed := l.empty() && len(lines) > 0
	for _, x := range slices.Backward(lines) {
		l.takeBack(x)
	}
	l.placed = placed
}

// placeText has the text be one of a hook, which gives way to a slash as others do, unless it
// ends in a blank: then it is there to be gone on with.
func (l *line) placeText(text string) {
	l.set(text)
	l.placed = text != "" && strings.TrimRight(text, " \t\n") == text
}

// takeBack puts a line that the person wants back as rows above what is typed.
func (l *line) takeBack(x job) {
	l.placed = false
	x.draft.Text = x.text
	l.buffer.Prepend(x.draft)
}

// beginRow makes a new row of a backslash that was typed at the end of the text, and reports
// whether there is one. A backslash before it makes it a character like others.
func (l *line) beginRow() bool {
	text, cursor := l.buffer.Plain()
	if _, more := joinLines("", text); !more || cursor < len(text) {
		return false
	}
	l.buffer.Replace(len(text)-1, len(text), "\n")
	return true
}

// token puts a text at the cursor that is shown under a label.
func (l *line) token(label, text string) { l.buffer.InsertToken("["+label+"]", text) }

// edit gives a key to the text: a paste, the action that it is bound to, or what it types.
func (l *line) edit(k terminal.Key, action string) {
	gives := l.placed && k.Text == "/" && action == "" && k.Name != "paste"
	l.placed = false
	switch {
	case gives:
		l.buffer.Restore(edit.Draft{Text: k.Text, Typed: []edit.Span{{To: len(k.Text)}}, Position: -1})
		l.overlay, l.refused = nil, ""
	case k.Name == "paste":
		l.buffer.Paste(k.Text)
	case action == "up":
		l.walk.Up(l.buffer)
	case action == "down":
		l.walk.Down(l.buffer)
	case action != "":
		l.buffer.Do(action)
	case k.Text != "":
		l.buffer.Insert(k.Text)
	}
	if l.empty() {
		l.refused = ""
	}
}

// overlayKey gives a key to the menu or the search. It reports false if none is open, or
// the key closed it.
func (l *line) overlayKey(k terminal.Key, works bool) bool {
	if _, ok := l.overlay.(*menu); ok || l.overlay == nil {
		return l.menuKey(k, works)
	}
	o := l.overlay
	used := o.Key(k)
	if (!used || o.Done()) && l.overlay == o {
		l.overlay = nil
	}
	return used
}

// render draws the line: at most most rows of the text, and below it the overlay, all in
// at most limit rows. It returns where the cursor is.
func (l *line) render(columns, limit, most int, sign string) (rows []string, row, column int) {
	rest := strings.Repeat(" ", cells.Width(sign))
	v := l.buffer.Window(columns, max(1, min(limit, most)), sign, rest)
	rows = markCut(v.Rows, v.Above > 0, v.Below > 0)
	row, column = v.Row, v.Column
	if l.overlay != nil && limit > len(rows) {
		below, at, cell := l.overlay.Render(columns, limit-len(rows))
		if at >= 0 {
			row, column = len(rows)+at, cell
		}
		rows = append(rows[:len(rows):len(rows)], below...)
	}
	return rows, row, column
}

// markCut marks the rows between which and the ends of the text there are more: what Enter
// sends is not only what is seen.
func markCut(rows []string, above, below bool) []string {
	mark := func(i int, sign string) {
		if rest, ok := strings.CutPrefix(rows[i], " "); ok {
			rows[i] = sign + rest
		}
	}
	last := len(rows) - 1
	switch {
	case above && below && last == 0:
		mark(0, "↕")
	case above:
		mark(0, "↑")
	}
	if below && last > 0 {
		mark(last, "↓")
	}
	return rows
}
