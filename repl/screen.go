package repl

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// screen is where everything of ours is written, in order, each piece with one
// write. What was shown stays, with two exceptions below it: the region of an
// open panel, which is drawn again under each line that comes, and the footer,
// the lines right above the prompt, as long as nothing was written after them.
type screen struct {
	palette
	mu      sync.Mutex
	out     io.Writer
	midLine bool // the last byte written was not a line end
	buf     []byte

	held   []byte   // written and not shown yet
	away   bool     // another program has the screen; all is held
	panel  bool     // a region is open; a line without its end is held
	region []string // what is drawn in it
	footer int      // lines that can be replaced
	broken bool     // a region ended the line under way, and nothing was written since
}

// write adds raw text: ours, or cleaned.
func (s *screen) write(text []byte) {
	if len(text) == 0 {
		return
	}
	s.midLine = text[len(text)-1] != '\n'
	s.footer, s.broken = 0, false
	switch {
	case s.away:
		s.held = append(s.held, text...)
	case s.panel:
		s.held = append(s.held, text...)
		if bytes.IndexByte(text, '\n') >= 0 {
			s.send(s.redrawn(s.region))
		}
	default:
		s.send(text)
	}
}

// send gives bytes to the terminal. One that takes no more text has nobody left
// to be told.
func (s *screen) send(text []byte) { _, _ = s.out.Write(text) }

// redrawn is what shows the whole lines that are held, and under them a region
// in place of the one that stands there.
func (s *screen) redrawn(region []string) []byte {
	out := s.erased()
	n := bytes.LastIndexByte(s.held, '\n') + 1
	out = append(out, s.held[:n]...)
	s.held = append(s.held[:0], s.held[n:]...)
	for i, line := range region {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, line...)
	}
	s.region = region
	return out
}

// erased is what takes the region away; the cursor is where it began.
func (s *screen) erased() []byte {
	out := []byte("\r")
	if n := len(s.region) - 1; n > 0 {
		out = fmt.Appendf(out, "\x1b[%dA", n)
	}
	return append(out, "\x1b[J"...)
}

// openRegion begins a region below what was written.
func (s *screen) openRegion() {
	s.mu.Lock()
	defer s.mu.Unlock()
	broken := s.broken || s.midLine && !s.away
	s.write(s.freshLine(nil))
	s.panel, s.region, s.broken = true, nil, broken
}

// back goes back to a column of the line that a region has ended. s.mu is held.
func (s *screen) back(column int) {
	if !s.panel && !s.away {
		s.write(fmt.Appendf(nil, "\x1b[A\x1b[%dC", column))
	}
}

// drawRegion shows lines in the open region. Each must fit into a row, and all
// of them on the screen.
func (s *screen) drawRegion(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panel && !s.away {
		s.send(s.redrawn(lines))
	}
}

// closeRegion takes the region away and shows what was held for it.
func (s *screen) closeRegion() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.panel {
		return
	}
	s.panel = false
	s.send(append(s.erased(), s.held...))
	s.held, s.region = nil, nil
}

// lend gives the screen to another program. What is written meanwhile is shown
// when the function it returns is called.
func (s *screen) lend() (back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(s.freshLine(nil))
	s.away, s.broken = true, false
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.away = false
		s.send(s.held)
		s.held = nil
	}
}

// writeFooter writes lines that the next footer replaces if nothing comes
// between.
func (s *screen) writeFooter(lines []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []byte
	if s.footer > 0 {
		out = fmt.Appendf(nil, "\r\x1b[%dA\x1b[J", s.footer)
	}
	out = s.freshLine(out)
	for _, line := range lines {
		out = append(append(out, line...), '\n')
	}
	s.write(out)
	s.footer = len(lines)
}

// settleFooter keeps what stands above the prompt from being replaced.
func (s *screen) settleFooter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.footer = 0
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
	s.midLine, s.broken = false, false
}

// pass writes something to the terminal itself, which does not move the cursor.
func (s *screen) pass(sequence string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = io.WriteString(s.out, sequence)
}
