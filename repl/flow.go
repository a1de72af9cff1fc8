package repl

import (
	"strings"

	"pi/agent/llm"
	"pi/internal/cells"
	"pi/internal/markdown"
	"pi/internal/printable"
)

// An answer comes in pieces. Rows that later text cannot change go into the transcript
// at once; the others are the live block of the zone, until more text or the end of the
// block decides them.

// block writes a text in rows as it comes.
type block interface {
	Write(text string) (rows []string) // those that are decided
	Live() []string                    // those that are not
	End() []string                     // the rest
	SetColumns(columns int)
}

// flow is the block of the answer that is being written.
type flow struct {
	open  block
	shows llm.DeltaKind // the kind of the open block
	steps steps
	again repetition
	// last is the kind of what was put into the transcript last, so that a blank row
	// stands between what is of different kinds.
	last kind
}

// steps follow the steps of an answer, to know where a block begins.
type steps struct {
	begun bool
	kind  llm.DeltaKind
	index int
	words words
}

// begins takes a step, and reports whether a block begins with it.
func (x *steps) begins(d llm.Delta) bool {
	d.Index = x.words.index(d)
	same := x.begun && d.Kind == x.kind && d.Index == x.index
	x.begun, x.kind, x.index = true, d.Kind, d.Index
	return !same
}

// kind is what a row of the transcript belongs to.
type kind uint8

const (
	kindNone kind = iota
	kindPrompt
	kindText
	kindThinking
	kindTool
	kindNotice
	kindRows // what commands print
)

// liveRows are the rows of the open block.
func (f *flow) liveRows(int) []string {
	if f.open == nil {
		return nil
	}
	return f.open.Live()
}

// words are the blocks of text that follow each other. They count as one, since
// some models cut their text into blocks in the middle of a sentence.
type words struct{ first, last int }

// index is the index of the block that a step is shown in: for text, that of the first
// of the blocks of text that follow each other.
func (w *words) index(d llm.Delta) int {
	if d.Kind != llm.DeltaText {
		return d.Index
	}
	if d.Index != w.last && d.Index != w.last+1 {
		w.first = d.Index
	}
	w.last = d.Index
	return w.first
}

// delta shows a step of the answer. The caller has the lock.
func (s *screen) delta(d llm.Delta) {
	if d.Kind != llm.DeltaText && (d.Kind != llm.DeltaThinking || !s.showThinking) || d.Text == "" {
		return
	}
	text := markless(d.Text)
	if s.flow.steps.begins(d) {
		text = string(markOf(d.Kind)) + text
	}
	text, over := s.flow.again.add(text)
	if over {
		s.startOver()
	}
	s.write(text)
	s.tellWaiting()
}

// openBlock opens a block, unless one is open. The caller has the lock.
func (s *screen) openBlock() {
	f := &s.flow
	switch {
	case f.open != nil:
	case f.shows == llm.DeltaThinking:
		f.open = newThought(s.palette.Paint, s.columns, s.plain)
	default:
		f.open = markdown.NewStream(s.painter())
	}
}

func kindOf(k llm.DeltaKind) kind {
	if k == llm.DeltaThinking {
		return kindThinking
	}
	return kindText
}

// painter draws Markdown for the terminal at hand.
func (s *screen) painter() markdown.Painter {
	return markdown.Painter{Columns: s.columns, Paint: s.palette.Paint, Highlight: s.highlight}
}

// endBlock puts the rest of the open block into the transcript, and behind it what waited
// for that. The caller has the lock.
func (s *screen) endBlock() {
	if s.flow.open == nil {
		return
	}
	rows := s.flow.open.End()
	s.add(kindOf(s.flow.shows), rows...)
	s.flow.open = nil
	s.tellWaiting()
}

// thought is a block of thinking: text as it is, wrapped at words and dimmed, with a mark
// at its beginning.
type thought struct {
	paint   func(style, text string) string
	columns int
	clean   printable.Cleaner
	line    string // what has come of the line that has not ended
	begun   bool   // the mark is written
	blank   int    // blank lines that are written only if text follows
	sign    string
}

func newThought(paint func(style, text string) string, columns int, plain bool) *thought {
	t := &thought{paint: paint, columns: columns, sign: "∴ "}
	if plain {
		t.sign = "thinking: "
	}
	return t
}

// Write takes a piece of text.
func (t *thought) Write(text string) []string {
	return t.take(string(t.clean.Append(nil, text)), false)
}

// End returns the rows that are left.
func (t *thought) End() []string { return t.take(string(t.clean.Finish(nil)), true) }

// SetColumns is for rows that are not returned yet.
func (t *thought) SetColumns(columns int) { t.columns = columns }

// Live returns the last row, which more text may change.
func (t *thought) Live() []string {
	if t.line == "" {
		return nil
	}
	return t.rows(t.line, t.begun)
}

// take adds text and removes the rows that are decided: of the last line all but the
// last row, unless it is the end.
func (t *thought) take(text string, end bool) (rows []string) {
	t.line += text
	for {
		line, rest, more := strings.Cut(t.line, "\n")
		if !more && !end {
			break
		}
		t.line = rest
		rows = append(rows, t.whole(line)...)
		if !more {
			return rows
		}
	}
	if part := cells.Wrap(t.line, t.room()); len(part) > 1 {
		last := part[len(part)-1]
		rows = append(rows, t.whole(strings.TrimSuffix(t.line, last))...)
		t.line = last
	}
	return rows
}

// whole returns the rows of a line that has ended. Blank ones wait for text behind them.
func (t *thought) whole(line string) (rows []string) {
	if strings.TrimSpace(line) == "" {
		if t.begun {
			t.blank++
		}
		return nil
	}
	for ; t.blank > 0; t.blank-- {
		rows = append(rows, "")
	}
	rows = append(rows, t.rows(strings.TrimRight(line, " "), t.begun)...)
	t.begun = true
	return rows
}

// room is how wide a row of text can be: behind the mark of the first row all rows are
// indented.
func (t *thought) room() int { return max(1, t.columns-t.indent()) }

func (t *thought) indent() int {
	if w := cells.Width(t.sign); w < t.columns/2 && len(t.sign) < 8 {
		return w
	}
	return 0
}

// rows paints a line; the mark is before the first row, unless begun.
func (t *thought) rows(line string, begun bool) (rows []string) {
	room := t.room()
	indent := strings.Repeat(" ", t.indent())
	if !begun && t.indent() == 0 {
		line = t.sign + line
	}
	for i, row := range cells.Wrap(line, room) {
		before := indent
		if i == 0 && !begun && t.indent() > 0 {
			before = t.sign
		}
		rows = append(rows, t.paint("thinking", before+row))
	}
	return rows
}
