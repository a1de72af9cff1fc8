package repl

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"pi/agent/llm"
	"pi/internal/printable"
	"pi/repl/terminal"
)

// An answer that breaks off is asked for again and begins anew, but its beginning is
// on the screen already. So the new answer is compared with the shown text, block by
// block. As long as both are the same nothing is written; what the new one has more is
// written behind. If it differs, a line tells that the answer starts over, and it is
// shown from its beginning.

// shownAnswer is the part of an answer that is on the screen.
type shownAnswer struct {
	blocks []shownBlock

	again   bool // the answer has begun anew, and is compared
	begun   bool // the new answer has a block already
	at      int  // the block that is compared
	matched int  // how much of it the new answer repeats so far
	index   int  // of that block in the new answer
	columns int  // of the screen when the answer broke off
}

type shownBlock struct {
	kind  llm.DeltaKind
	index int
	text  strings.Builder
}

// add records a step of the answer that is shown: its text goes to the block it belongs
// to, the last one or a new one.
func (s *shownAnswer) add(d llm.Delta) {
	last := len(s.blocks) - 1
	if last < 0 || s.blocks[last].kind != d.Kind || s.blocks[last].index != d.Index {
		s.blocks = append(s.blocks, shownBlock{kind: d.Kind, index: d.Index})
		last++
	}
	s.blocks[last].text.WriteString(d.Text)
}

// beginAgain is called when the answer broke off and begins anew: its steps are
// compared with what is shown from now on, if anything is. columns is the width of the
// screen.
func (s *shownAnswer) beginAgain(columns int) {
	if len(s.blocks) > 0 {
		s.again, s.begun, s.at, s.matched, s.columns = true, false, 0, 0, columns
	}
}

// comparison is the result of comparing a step.
type comparison uint8

const (
	isSame    comparison = iota
	continues            // behind all that was shown
	differs
)

// compare compares a step of an answer that has begun anew with the shown text.
// With continues, rest is the part of it that is new.
func (s *shownAnswer) compare(d llm.Delta) (rest string, c comparison) {
	switch at := s.next(d); {
	case at < 0:
		return "", differs
	case at == len(s.blocks):
		return d.Text, continues
	case at != s.at || !s.begun:
		s.begun, s.at, s.matched, s.index = true, at, 0, d.Index
	}
	was := s.blocks[s.at].text.String()[s.matched:]
	switch {
	case strings.HasPrefix(was, d.Text):
		s.matched += len(d.Text)
		return "", isSame
	case strings.HasPrefix(d.Text, was) && s.at == len(s.blocks)-1:
		s.blocks[s.at].index = d.Index
		return d.Text[len(was):], continues
	}
	return "", differs
}

// next is the position of the shown block that a step has to repeat, len(blocks) if it
// comes behind all of them. It is -1 if the answer differs there: the block before was
// shorter, or this one is of another kind.
func (s *shownAnswer) next(d llm.Delta) int {
	at := s.at
	switch {
	case s.begun && d.Index == s.index && d.Kind == s.blocks[s.at].kind:
		return at
	case s.begun && s.matched < s.blocks[s.at].text.Len():
		return -1
	case s.begun:
		at++
	}
	if at < len(s.blocks) && s.blocks[at].kind != d.Kind {
		return -1
	}
	return at
}

// whole reports whether the new answer repeats all that was shown.
func (s *shownAnswer) whole() bool {
	return s.begun && s.at == len(s.blocks)-1 && s.matched == s.blocks[s.at].text.Len()
}

// steps returns what the new answer has said so far as steps. None of it was written,
// since it repeated what is shown.
func (s *shownAnswer) steps() (steps []llm.Delta) {
	if !s.begun {
		return nil
	}
	for i := range s.at {
		b := &s.blocks[i]
		steps = append(steps, llm.Delta{Kind: b.kind, Index: -2 - i, Text: b.text.String()}) // an index of no other block
	}
	b := &s.blocks[s.at]
	return append(steps, llm.Delta{Kind: b.kind, Index: s.index, Text: b.text.String()[:s.matched]})
}

// lastColumn is the column of the cursor behind the text that was shown last, 0 at
// the beginning of a row; ok is false where it cannot be known.
func (s *shownAnswer) lastColumn() (column int, ok bool) {
	text := printable.Text(s.blocks[len(s.blocks)-1].text.String())
	text = text[strings.LastIndexByte(text, '\n')+1:]
	for _, r := range text {
		width := runewidth.RuneWidth(r)
		if r == '\t' {
			return 0, false
		}
		if column+width > s.columns {
			column = 0
		}
		column += width
	}
	return column % max(s.columns, 1), true
}

// writeRepeated shows a step of an answer that has begun anew: nothing while it repeats what
// is shown, then what it has more. If it differs, the whole answer is shown again.
func (t *transcript) writeRepeated(p *terminal.Page, d llm.Delta) {
	rest, c := t.answer.compare(d)
	switch c {
	case continues:
		t.answer.again = false
		if rest == "" {
			return
		}
		d.Text = rest
		if last := t.answer.blocks[len(t.answer.blocks)-1]; last.kind == d.Kind && last.index == d.Index {
			t.block.index = d.Index
			// If only the line of the wait was written since, which is gone again, the cursor
			// is brought back behind the text that was shown last.
			if column, ok := t.answer.lastColumn(); ok && column > 0 && t.columns() == t.answer.columns {
				p.ResumeLine(column)
			}
		}
		t.write(p, d)
	case differs:
		t.startOver(p)
		t.write(p, d)
	}
}

// startOver shows an answer from its beginning that differs from what is shown.
func (t *transcript) startOver(p *terminal.Page) {
	steps := t.answer.steps()
	t.answer = shownAnswer{}
	p.Write(t.endBlock(p, nil))
	p.Print(t.Styled(terminal.StyleDim, "the answer broke off; it starts over:"))
	for _, d := range steps {
		t.write(p, d)
	}
}
