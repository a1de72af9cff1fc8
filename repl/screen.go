package repl

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"pi/internal/printable"
)

// screen is where everything of ours is written, in order, each piece with one
// write. What was shown is never changed, with two exceptions below it: the
// region of an open panel, which is drawn again under each line that comes, and
// the footer, the lines right above the prompt, as long as nothing was written
// after them. Any goroutine may use it.
type screen struct {
	palette
	mu   sync.Mutex // guards page
	page page
}

// newScreen returns a screen that writes to out.
func newScreen(out io.Writer, p palette) *screen {
	return &screen{palette: p, page: page{out: out}}
}

// locked calls f with the page. Nothing else is written until f returns, and f
// must not use the screen itself.
func (s *screen) locked(f func(*page)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.page)
}

// page is what a screen shows, in the hands of whoever has it for several steps.
// It may be used only inside of the call of locked that gave it.
type page struct {
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
func (p *page) write(text []byte) {
	if len(text) == 0 {
		return
	}
	p.midLine = text[len(text)-1] != '\n'
	p.footer, p.broken = 0, false
	switch {
	case p.away:
		p.held = append(p.held, text...)
	case p.panel:
		p.held = append(p.held, text...)
		if bytes.IndexByte(text, '\n') >= 0 {
			p.send(p.redrawn(p.region))
		}
	default:
		p.send(text)
	}
}

// send gives bytes to the terminal. One that takes no more text has nobody left
// to be told.
func (p *page) send(text []byte) { _, _ = p.out.Write(text) }

// redrawn is what shows the whole lines that are held, and under them a region
// in place of the one that stands there.
func (p *page) redrawn(region []string) []byte {
	out := p.erased()
	n := bytes.LastIndexByte(p.held, '\n') + 1
	out = append(out, p.held[:n]...)
	p.held = append(p.held[:0], p.held[n:]...)
	for i, line := range region {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, line...)
	}
	p.region = region
	return out
}

// erased is what takes the region away; the cursor is where it began.
func (p *page) erased() []byte {
	out := []byte("\r")
	if n := len(p.region) - 1; n > 0 {
		out = fmt.Appendf(out, "\x1b[%dA", n)
	}
	return append(out, "\x1b[J"...)
}

// resumeLine goes back to a column of the line that a region has ended, if
// nothing was written since.
func (p *page) resumeLine(column int) {
	if p.broken && !p.panel && !p.away {
		p.write(fmt.Appendf(nil, "\x1b[A\x1b[%dC", column))
	}
}

// writeLine writes text on lines of its own.
func (p *page) writeLine(text string) {
	p.buf = p.freshLine(p.buf[:0])
	p.buf = append(append(p.buf, text...), '\n')
	p.write(p.buf)
}

// freshLine appends what ends the line that is under way, if there is one.
func (p *page) freshLine(dst []byte) []byte {
	if p.midLine {
		return append(dst, '\n')
	}
	return dst
}

// atLineStart reports whether no line is under way.
func (p *page) atLineStart() bool { return !p.midLine }

// openRegion begins a region below what was written.
func (s *screen) openRegion() {
	s.locked(func(p *page) {
		broken := p.broken || p.midLine && !p.away
		p.write(p.freshLine(nil))
		p.panel, p.region, p.broken = true, nil, broken
	})
}

// drawRegion shows lines in the open region. Each must fit into a row, and all
// of them on the screen.
func (s *screen) drawRegion(lines []string) {
	s.locked(func(p *page) {
		if p.panel && !p.away {
			p.send(p.redrawn(lines))
		}
	})
}

// closeRegion takes the region away, if one is open, and shows what was held for
// it.
func (s *screen) closeRegion() {
	s.locked(func(p *page) {
		if !p.panel {
			return
		}
		p.panel = false
		p.send(append(p.erased(), p.held...))
		p.held, p.region = nil, nil
	})
}

// lend gives the screen to another program. What is written meanwhile is shown
// when the function it returns is called.
func (s *screen) lend() (back func()) {
	s.locked(func(p *page) {
		p.write(p.freshLine(nil))
		p.away, p.broken = true, false
	})
	return func() {
		s.locked(func(p *page) {
			p.away = false
			p.send(p.held)
			p.held = nil
		})
	}
}

// writeFooter writes lines that the next footer replaces if nothing comes
// between.
func (s *screen) writeFooter(lines []string) {
	s.locked(func(p *page) {
		var out []byte
		if p.footer > 0 {
			out = fmt.Appendf(nil, "\r\x1b[%dA\x1b[J", p.footer)
		}
		out = p.freshLine(out)
		for _, line := range lines {
			out = append(append(out, line...), '\n')
		}
		p.write(out)
		p.footer = len(lines)
	})
}

// keepFooter makes the footer a part of what was shown: the next one is written
// below it.
func (s *screen) keepFooter() {
	s.locked(func(p *page) { p.footer = 0 })
}

// line writes text on lines of its own.
func (s *screen) line(st style, text string) { s.plainLine(s.styled(st, text)) }

// plainLine writes text without a style on lines of its own.
func (s *screen) plainLine(text string) {
	s.locked(func(p *page) { p.writeLine(text) })
}

// stream writes a piece of what others print as it comes; clean knows the pieces
// before it.
func (s *screen) stream(clean *printable.Cleaner, text string) {
	s.locked(func(p *page) {
		p.buf = clean.Append(p.buf[:0], text)
		p.write(p.buf)
	})
}

// ask writes lines and then a prompt on a line that is left open.
func (s *screen) ask(lines []string, prompt string) {
	s.locked(func(p *page) {
		out := p.freshLine(nil)
		for _, line := range lines {
			out = append(append(out, line...), '\n')
		}
		p.write(append(out, s.styled(styleBold, prompt)...))
	})
}

// prompt writes a prompt behind what is there.
func (s *screen) prompt(text string) {
	s.locked(func(p *page) { p.write([]byte(text)) })
}

// endLine ends the line that is under way, if there is one.
func (s *screen) endLine() {
	s.locked(func(p *page) { p.write(p.freshLine(nil)) })
}

// lineEnded writes text as it is and takes the cursor to be at the start of a
// line afterwards, as it is once the person has ended what they type.
func (s *screen) lineEnded(text string) {
	s.locked(func(p *page) {
		p.write([]byte(text))
		p.midLine, p.broken = false, false
	})
}

// keyEchoed notes that the terminal has shown a key by itself, as it does with
// Ctrl+C: the line under way is no longer empty.
func (s *screen) keyEchoed() {
	s.locked(func(p *page) { p.midLine, p.broken = true, false })
}

// control writes something to the terminal itself, which does not move the
// cursor.
func (s *screen) control(sequence string) {
	s.locked(func(p *page) { p.send([]byte(sequence)) })
}
