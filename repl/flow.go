package repl

import (
	"strings"

	"pi/agent"
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
	IsInside() bool                    // what goes on would be split by a row behind the decided ones
	SetColumns(columns int)
}

// flow is the block of the answer that is being written.
type flow struct {
	open  block
	shows llm.DeltaKind // the kind of the open block
	index int           // of that in the answer
	words words
	// last is the kind of what was put into the transcript last, so that a blank row
	// stands between what is of different kinds.
	last kind
	// folded is what came of a thought that is not shown, the one with the index foldedAt.
	folded   []byte
	foldedAt int
	// midAnswer is set while a part of an answer is shown that has not ended.
	midAnswer bool
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
	if d.Kind == llm.DeltaThinking && !s.showThinking {
		d.Text = s.flow.fold(d)
	}
	if d.Kind != llm.DeltaText && d.Kind != llm.DeltaThinking || d.Text == "" {
		return
	}
	f := &s.flow
	d.Index = f.words.index(d)
	if f.open == nil || d.Kind != f.shows || d.Index != f.index {
		s.endBlock()
		f.shows, f.index, f.midAnswer = d.Kind, d.Index, true
		if d.Kind == llm.DeltaThinking {
			f.open = newThought(s.palette.Paint, s.columns, s.plain)
		} else {
			f.open = markdown.NewStream(s.painter())
		}
	}
	s.add(kindOf(d.Kind), f.open.Write(d.Text)...)
	s.tellWaiting()
}

// fold returns what is to be shown of a thought while thoughts are hidden: nothing, until
// the model says that it is for the user, and all of it then.
func (f *flow) fold(d llm.Delta) string {
	if d.Index != f.foldedAt {
		f.folded, f.foldedAt = nil, d.Index
	}
	f.folded = append(f.folded, d.Text...)
	if !d.Spoken {
		return ""
	}
	text := string(f.folded)
	f.folded = nil
	return text
}

// answerEnds ends the answer that is shown. The caller has the lock.
func (s *screen) answerEnds() {
	s.endBlock()
	s.flow.midAnswer = false
	s.flow.words = words{}
	s.flow.folded = nil
}

// startOver ends what is shown of an answer that broke off: it is asked for again, and
// written from its beginning. The caller has the lock.
func (s *screen) startOver() {
	if s.flow.midAnswer {
		s.endBlock()
		s.add(kindNotice, s.noticeRows("the answer starts over", agent.LevelInfo)...)
	}
	s.answerEnds()
	s.busy.written = 0
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
// at its beginning. Blank rows are shown only between others.
type thought struct {
	paint func(style, text string) string
	clean printable.Cleaner
	rows  *cells.Wrapper
	begun bool // something else than blanks has come
	blank int  // blank rows that came and are not shown yet
}

func newThought(paint func(style, text string) string, columns int, plain bool) *thought {
	sign := "∴ "
	if plain {
		sign = "thinking: "
	}
	return &thought{paint: paint, rows: cells.NewWrapper(columns, sign, strings.Repeat(" ", cells.Width(sign)))}
}

// Write adds a piece of text.
func (t *thought) Write(text string) []string {
	t.add(string(t.clean.Append(nil, text)))
	return t.shown(t.rows.TakeRows())
}

// End returns the rows that are left.
func (t *thought) End() []string {
	t.add(string(t.clean.Finish(nil)))
	if !t.begun {
		return nil
	}
	return t.shown(t.rows.End())
}

// IsInside is false: thinking has no blocks.
func (t *thought) IsInside() bool { return false }

// SetColumns is for rows that are not returned yet.
func (t *thought) SetColumns(columns int) { t.rows.SetColumns(columns) }

// Live returns the row that more text may change.
func (t *thought) Live() []string {
	if !t.begun {
		return nil
	}
	blank := t.blank
	defer func() { t.blank = blank }()
	return t.shown(t.rows.Clone().End())
}

// add adds text, but for blanks before everything else.
func (t *thought) add(text string) {
	if !t.begun {
		text = strings.TrimLeft(text, " \t\n")
		t.begun = text != ""
	}
	t.rows.Write(text)
}

// shown paints rows. Blank ones wait for a row behind them.
func (t *thought) shown(rows []string) (painted []string) {
	for _, row := range rows {
		if strings.TrimSpace(row) == "" {
			t.blank++
			continue
		}
		for ; t.blank > 0; t.blank-- {
			painted = append(painted, "")
		}
		painted = append(painted, t.paint("thinking", row))
	}
	return painted
}
