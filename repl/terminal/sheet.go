package terminal

import (
	"io"
	"sync"
)

// sheet is the output of a terminal of lines: it is only ever added to. Any goroutine may
// use it.
type sheet struct {
	mu      sync.Mutex
	out     io.Writer
	midLine bool // the last byte written was not a line end
}

// write writes text. If the terminal is gone there is nobody to tell.
func (s *sheet) write(text string, midLine bool) {
	_, _ = io.WriteString(s.out, text)
	s.midLine = midLine
}

// print writes rows, each on a line of its own.
func (s *sheet) print(rows ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range rows {
		s.endLineLocked()
		s.write(row+"\n", false)
	}
}

// prompt writes text without a line end.
func (s *sheet) prompt(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(text, true)
}

// endLine ends the line that is under way, if there is one.
func (s *sheet) endLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLineLocked()
}

func (s *sheet) endLineLocked() {
	if s.midLine {
		s.write("\n", false)
	}
}

// lineEnded writes text and takes the cursor to be at the start of a line, as it is once
// the person has ended what they type.
func (s *sheet) lineEnded(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(text, false)
}

// control writes a sequence that does not move the cursor.
func (s *sheet) control(sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(sequence, s.midLine)
}
