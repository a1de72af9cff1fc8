package repl

import (
	"bytes"
	"strings"

	"pi/agent"
	"pi/agent/llm"
)

// An answer that breaks off is asked for again, and most often comes again as it was. It
// goes on on the screen where it stopped: what is there already is not written twice. Only
// if it comes out otherwise it starts over.

// repetition compares an answer that comes again with what is shown of it.
type repetition struct {
	shown []byte // what is shown of the answer: for each block its mark, and its text
	anew  []byte // what has come since it was asked for again
	again bool   // it was asked for again, and has not come as far as before
}

// blockMarks stand before the text of a block in a repetition. No text has them: they are
// bytes that UTF-8 does not use.
const (
	markText     = '\xfe'
	markThinking = '\xff'
)

// markOf is the mark of a kind of block.
func markOf(k llm.DeltaKind) []byte {
	if k == llm.DeltaThinking {
		return []byte{markThinking}
	}
	return []byte{markText}
}

// markless is a text without the bytes that are marks.
func markless(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\xfe", "\uFFFD"), "\xff", "\uFFFD")
}

// nextMark is where the next mark in a text is, or its end.
func nextMark(text string) int {
	for i := range len(text) {
		if text[i] == markText || text[i] == markThinking {
			return i
		}
	}
	return len(text)
}

// begin notes that the answer is asked for again.
func (r *repetition) begin() {
	r.again, r.anew = len(r.shown) > 0, nil
}

// add takes a piece of the answer, with its mark if it begins a block. It returns what is
// to be shown of it, and whether the answer starts over with that.
func (r *repetition) add(piece string) (text string, over bool) {
	if !r.again {
		r.shown = append(r.shown, piece...)
		return piece, false
	}
	r.anew = append(r.anew, piece...)
	switch {
	case bytes.HasPrefix(r.shown, r.anew):
		return "", false
	case bytes.HasPrefix(r.anew, r.shown):
		text = string(r.anew[len(r.shown):])
	default:
		text, over = string(r.anew), true
	}
	r.shown, r.anew, r.again = r.anew, nil, false
	return text, over
}

// end ends the answer. If it came again and is shorter than what is shown, it starts over
// with text.
func (r *repetition) end(failed bool) (text string, over bool) {
	text, over = string(r.anew), r.again && !failed && len(r.anew) < len(r.shown)
	*r = repetition{}
	return text, over
}

// askedAgain notes that the answer broke off and is asked for again. What is shown of it
// stays where it can go on; in plain mode, where rows are written only when they are whole,
// it is written as it is. The caller has the lock.
func (s *screen) askedAgain() {
	if s.plain {
		s.endBlock()
	}
	s.flow.again.begin()
	s.flow.steps = steps{}
	s.busy.written = 0
}

// answerEnds ends the answer that is shown. The caller has the lock.
func (s *screen) answerEnds(failed bool) {
	if text, over := s.flow.again.end(failed); over {
		s.startOver()
		s.write(text)
	}
	s.flow.steps = steps{}
	s.endBlock()
}

// startOver ends what is shown of an answer that comes out otherwise. The caller has the
// lock.
func (s *screen) startOver() {
	s.endBlock()
	s.add(kindNotice, s.noticeRows("the answer starts over", agent.LevelInfo)...)
}

// write shows text of the answer: in a new block behind each mark, else in the open one.
// The caller has the lock.
func (s *screen) write(text string) {
	for text != "" {
		if text[0] == markText || text[0] == markThinking {
			s.endBlock()
			s.flow.shows = llm.DeltaText
			if text[0] == markThinking {
				s.flow.shows = llm.DeltaThinking
			}
			text = text[1:]
			continue
		}
		end := nextMark(text)
		s.openBlock()
		s.add(kindOf(s.flow.shows), s.flow.open.Write(text[:end])...)
		text = text[end:]
	}
}
