package repl

import (
	"io"
	"sync"
)

// screen is where everything of ours is written, in order, each piece with one
// write. It never goes back: what was shown stays.
type screen struct {
	palette
	mu      sync.Mutex
	out     io.Writer
	midLine bool // the last byte written was not a line end
	buf     []byte
}

// write adds raw text: ours, or cleaned.
func (s *screen) write(text []byte) {
	if len(text) == 0 {
		return
	}
	s.midLine = text[len(text)-1] != '\n'
	// A terminal that takes no more text has nobody left to be told.
	_, _ = s.out.Write(text)
}

// line writes text on lines of its own.
func (s *screen) line(st style, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLine(s.paint(st, text))
}

// plainLine writes text without a style on lines of its own.
func (s *screen) plainLine(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLine(text)
}

func (s *screen) writeLine(text string) {
	s.buf = s.freshLine(s.buf[:0])
	s.buf = append(append(s.buf, text...), '\n')
	s.write(s.buf)
}

// freshLine ends the line that is under way, if there is one.
func (s *screen) freshLine(dst []byte) []byte {
	if s.midLine {
		return append(dst, '\n')
	}
	return dst
}

// endLine ends the line that is under way, if there is one.
func (s *screen) endLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.freshLine(nil))
}

// raw writes text as it is and takes the cursor to be at the start of a line
// afterwards, as it is once the person has ended what they type.
func (s *screen) raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write([]byte(text))
	s.midLine = false
}

// pass writes something to the terminal itself, which does not move the cursor.
func (s *screen) pass(sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, sequence)
}
