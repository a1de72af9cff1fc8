package terminal

import (
	"strings"
	"time"
)

// After the window has changed its size only the terminal knows in which of its rows the cursor
// is: rows may have been broken, and some pushed out at the top. It is asked, where it has
// answered questions before.

const askPosition = "\x1b[6n"

// waitPosition is how long a frame waits for the answer.
const waitPosition = 100 * time.Millisecond

// position is what is known of the row of the cursor.
type position struct {
	asked, answered int
	last            time.Time // when it was asked last
	row             int       // of the last answer, counted from 0
}

// open reports whether an answer is awaited.
func (p *position) open() bool { return p.answered < p.asked }

// isPosition reports whether a sequence ESC [ … may be an answer to askPosition. F3 with
// Shift is sent in the same way.
func isPosition(s string) bool {
	row, column, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(s, "\x1b["), "R"), ";")
	return strings.HasPrefix(s, "\x1b[") && strings.HasSuffix(s, "R") && ok && digits([]byte(row)) && digits([]byte(column))
}

// locate asks for the row of the cursor. Only the goroutine that paints calls it.
func (p *painter) locate() {
	p.mu.Lock()
	away := p.away
	p.mu.Unlock()
	if away || p.gone || !p.answers() {
		return
	}
	p.note(func() {
		p.position.asked++
		p.position.last = time.Now()
	})
	p.write([]byte(askPosition))
}

// locating reports whether an answer is awaited, for as long as one may come.
func (p *painter) locating() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.position.open() && time.Since(p.position.last) < time.Second
}

// located takes an answer.
func (p *painter) located(answer string) {
	row, _, _ := strings.Cut(strings.TrimPrefix(answer, "\x1b["), ";")
	p.ask(func(*wants) {
		p.position.answered++
		p.position.row = number(row, 1) - 1
	})
}

// positionWait is how long a frame has to wait for the answer.
func (p *painter) positionWait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.position.open() {
		return 0
	}
	return p.position.last.Add(waitPosition).Sub(now)
}

// takePosition returns the row of the cursor since the window has another size, -1 if
// that is not known.
func (p *painter) takePosition() (row int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	row = p.position.row
	if p.position.open() || p.position.asked == 0 {
		row = -1
	}
	p.position = position{asked: p.position.asked - p.position.answered, last: p.position.last}
	return row
}
