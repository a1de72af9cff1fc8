package terminal

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"pi/internal/printable"
)

// Screen writes everything of ours to the terminal, in order, each piece with one
// write. Shown text is never changed, with two exceptions below it: the region of an
// open panel, which is drawn again under each line that comes, and the footer, the lines
// right above the prompt, as long as nothing was written after them. Any goroutine may use it.
type Screen struct {
	Palette
	mu   sync.Mutex // guards page
	page Page
}

// NewScreen returns a screen that writes to out.
func NewScreen(out io.Writer, p Palette) *Screen {
	return &Screen{Palette: p, page: Page{out: out}}
}

// Locked calls f with the page, once and at once. Nothing else is written until f returns, and f
// must not use the screen itself.
func (s *Screen) Locked(f func(*Page)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.page)
}

// Page is the screen while it is locked, for writing in several steps.
// It may be used only inside of the call of [Screen.Locked] that gave it.
type Page struct {
	out     io.Writer
	midLine bool // the last byte written was not a line end
	buf     []byte

	queued []byte   // written and not shown yet: of a lent screen, or behind a region
	away   bool     // another program has the screen; all text waits
	panel  bool     // a region is open; a line without its end waits
	region []string // what is drawn in it
	footer int      // lines that can be replaced
	broken bool     // a region ended the line under way, and nothing was written since
}

// Write shows text as it is: it must be the program's own, or cleaned. While another
// program has the screen the text waits; while a region is open it waits until its line
// ends, and then appears above the region.
func (p *Page) Write(text []byte) {
	if len(text) == 0 {
		return
	}
	p.midLine = text[len(text)-1] != '\n'
	p.footer, p.broken = 0, false
	switch {
	case p.away:
		p.queued = append(p.queued, text...)
	case p.panel:
		p.queued = append(p.queued, text...)
		if bytes.IndexByte(text, '\n') >= 0 {
			p.send(p.redrawRegion(p.region))
		}
	default:
		p.send(text)
	}
}

// send gives bytes to the terminal. An error is ignored: if the terminal is gone
// there is nobody to tell.
func (p *Page) send(text []byte) { _, _ = p.out.Write(text) }

// redrawRegion returns the bytes that show the queued whole lines and, below them, a
// region in place of the old one.
func (p *Page) redrawRegion(region []string) []byte {
	out := p.eraseRegion()
	n := bytes.LastIndexByte(p.queued, '\n') + 1
	out = append(out, p.queued[:n]...)
	p.queued = append(p.queued[:0], p.queued[n:]...)
	for i, line := range region {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, line...)
	}
	p.region = region
	return out
}

// eraseRegion returns the bytes that erase the region and put the cursor to its
// beginning.
func (p *Page) eraseRegion() []byte {
	out := []byte("\r")
	if n := len(p.region) - 1; n > 0 {
		out = fmt.Appendf(out, "\x1b[%dA", n)
	}
	return append(out, "\x1b[J"...)
}

// ResumeLine puts the cursor back into the line that a region ended when it opened, to
// a column of it. It does nothing if something was written since. The line must not be
// wider than the terminal was.
func (p *Page) ResumeLine(column int) {
	if p.broken && !p.panel && !p.away {
		p.Write(fmt.Appendf(nil, "\x1b[A\x1b[%dC", column))
	}
}

// Print writes text as it is, on lines of its own. The text must be clean.
func (p *Page) Print(text string) {
	p.buf = p.FreshLine(p.buf[:0])
	p.buf = append(append(p.buf, text...), '\n')
	p.Write(p.buf)
}

// FreshLine appends a line end to dst if the cursor is in the middle of a line.
func (p *Page) FreshLine(dst []byte) []byte {
	if p.midLine {
		return append(dst, '\n')
	}
	return dst
}

// AtLineStart reports whether no line is under way.
func (p *Page) AtLineStart() bool { return !p.midLine }

// OpenRegion begins a region below what was written. There is one at a time.
func (s *Screen) OpenRegion() {
	s.Locked(func(p *Page) {
		broken := p.broken || p.midLine && !p.away
		p.Write(p.FreshLine(nil))
		p.panel, p.region, p.broken = true, nil, broken
	})
}

// DrawRegion shows lines in the open region. Each must fit into a row, and all
// of them on the screen.
func (s *Screen) DrawRegion(lines []string) {
	s.Locked(func(p *Page) {
		if p.panel && !p.away {
			p.send(p.redrawRegion(lines))
		}
	})
}

// CloseRegion removes the region, if one is open, and shows the text that waited for
// that.
func (s *Screen) CloseRegion() {
	s.Locked(func(p *Page) {
		if !p.panel {
			return
		}
		p.panel = false
		p.send(append(p.eraseRegion(), p.queued...))
		p.queued, p.region = nil, nil
	})
}

// Lend gives the screen to another program. Text that is written meanwhile is shown
// when back is called.
func (s *Screen) Lend() (back func()) {
	s.Locked(func(p *Page) {
		p.Write(p.FreshLine(nil))
		p.away, p.broken = true, false
	})
	return func() {
		s.Locked(func(p *Page) {
			p.away = false
			p.send(p.queued)
			p.queued = nil
		})
	}
}

// Footer writes lines that the next footer replaces if nothing is written
// between them. Each must fit into a row.
func (s *Screen) Footer(lines []string) {
	s.Locked(func(p *Page) {
		var out []byte
		if p.footer > 0 {
			out = fmt.Appendf(nil, "\r\x1b[%dA\x1b[J", p.footer)
		}
		out = p.FreshLine(out)
		for _, line := range lines {
			out = append(append(out, line...), '\n')
		}
		p.Write(out)
		p.footer = len(lines)
	})
}

// ReleaseFooter makes the footer a part of the shown text: the next footer is written
// below it.
func (s *Screen) ReleaseFooter() {
	s.Locked(func(p *Page) { p.footer = 0 })
}

// Line writes text in a style, on lines of its own. The text must be clean.
func (s *Screen) Line(st Style, text string) { s.Print(s.Styled(st, text)) }

// Print writes text as it is, on lines of its own. The text must be clean.
func (s *Screen) Print(text string) {
	s.Locked(func(p *Page) { p.Print(text) })
}

// Stream writes a piece of text of others as it comes, cleaned. The cleaner is one for
// all pieces of a text, since a sequence may be cut between two.
func (s *Screen) Stream(clean *printable.Cleaner, text string) {
	s.Locked(func(p *Page) {
		p.buf = clean.Append(p.buf[:0], text)
		p.Write(p.buf)
	})
}

// Ask writes lines, and behind them a prompt on a line that is not ended.
func (s *Screen) Ask(lines []string, prompt string) {
	s.Locked(func(p *Page) {
		out := p.FreshLine(nil)
		for _, line := range lines {
			out = append(append(out, line...), '\n')
		}
		p.Write(append(out, s.Styled(StyleBold, prompt)...))
	})
}

// prompt writes text without a line end, behind the last text.
func (s *Screen) prompt(text string) {
	s.Locked(func(p *Page) { p.Write([]byte(text)) })
}

// EndLine ends the line that is under way, if there is one.
func (s *Screen) EndLine() {
	s.Locked(func(p *Page) { p.Write(p.FreshLine(nil)) })
}

// LineEnded writes text as it is and takes the cursor to be at the start of a
// line afterwards, as it is once the person has ended what they type.
func (s *Screen) LineEnded(text string) {
	s.Locked(func(p *Page) {
		p.Write([]byte(text))
		p.midLine, p.broken = false, false
	})
}

// KeyEchoed notes that the terminal has shown a key by itself, as it does with
// Ctrl+C: the line under way is no longer empty.
func (s *Screen) KeyEchoed() {
	s.Locked(func(p *Page) { p.midLine, p.broken = true, false })
}

// Control sends the terminal a sequence that does not move the cursor, at once,
// whoever has the screen.
func (s *Screen) Control(sequence string) {
	s.Locked(func(p *Page) { p.send([]byte(sequence)) })
}
