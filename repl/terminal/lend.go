package terminal

import (
	"time"

	"pi/internal/printable"
)

// The terminal is given away and taken back: for another program, for a stop of the
// process, and for good.

// Lend gives the terminal to another program while run runs: the zone is removed, all modes
// are as they were before Start, and nothing is read. What is printed meanwhile waits. run
// leaves the cursor at the start of a row. Lend returns the error of run. One program has
// the terminal at a time.
func (t *Terminal) Lend(run func() error) error {
	if t.plain != nil {
		return t.plain.lend(run)
	}
	t.lending.Lock()
	defer t.lending.Unlock()
	if t.giveAway() {
		defer t.takeBack(askAlternate)
	}
	return run()
}

// Unread takes back what was typed while another program had the terminal and which that
// did not read. Only the run of [Terminal.Lend] may call it.
func (t *Terminal) Unread(typed []byte) {
	if t.plain == nil {
		t.input.unread = append(t.input.unread, typed...)
	}
}

// Killed notes that the program that has the terminal was killed, so that it may have left
// its alternate screen on. Only the run of [Terminal.Lend] may call it. Otherwise the
// terminal is asked, since some move the cursor when they are told to leave a screen that
// they do not show; but not all of them answer.
func (t *Terminal) Killed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lease.killed = true
}

// giveAway pauses the reading, removes the zone and restores the modes. It reports false if
// the terminal is closed.
func (t *Terminal) giveAway() bool {
	t.input.pause()
	t.switching.Lock()
	defer t.switching.Unlock()
	if t.closed {
		t.input.resume()
		return false
	}
	m, _ := t.setLent(true)
	t.painter.call(0, func() {
		t.painter.remove(m.off())
		t.painter.note(func() { t.painter.away = true })
	})
	_ = t.before.set(t.config.In) // if the terminal is gone, reading it will say so
	return true
}

// takeBack undoes giveAway, whatever another program made of the terminal. ask is written behind
// the modes, unless the program was killed.
func (t *Terminal) takeBack(ask string) {
	t.switching.Lock()
	defer t.switching.Unlock()
	defer t.input.resume()
	if t.closed {
		return
	}
	_ = t.keys.set(t.config.In)
	m, killed := t.setLent(false)
	again := m.again() + ask
	if killed {
		again = m.onMain()
	}
	t.painter.call(0, func() { t.painter.restart(again) })
}

// setLent notes whether another program has the terminal. It returns the modes, and whether
// the program that had it was killed.
func (t *Terminal) setLent(lent bool) (m modes, killed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	killed = t.lease.killed
	t.lease.set(lent)
	return t.modes, killed
}

// Redraw sets the terminal up anew and draws the zone in its place, for a person who sees
// that another program has written over it.
func (t *Terminal) Redraw() {
	if t.plain != nil {
		return
	}
	t.switching.Lock()
	defer t.switching.Unlock()
	t.mu.Lock()
	again, lent := t.modes.again(), t.lease.lent
	t.mu.Unlock()
	if t.closed || lent {
		return
	}
	_ = t.keys.set(t.config.In) // if the terminal is gone, reading it will say so
	t.painter.call(0, func() { t.painter.repaint(again) })
}

// restart writes sequences and has the zone drawn from the row of the cursor on, wherever
// that is. Only the goroutine that paints calls it.
func (p *painter) restart(sequences string) {
	p.drawn = canvas{}
	p.repaint(sequences)
}

// repaint writes sequences and has the zone drawn anew in its place. Only the goroutine
// that paints calls it.
func (p *painter) repaint(sequences string) {
	p.drawn.stale = true
	p.write([]byte(sequences))
	p.note(func() {
		p.away = false
		p.want.changed, p.want.urgent = true, true
	})
}

const (
	closePatience  = time.Second            // for a terminal that takes nothing at the moment
	answerPatience = 150 * time.Millisecond // from the start, for answers that would go to the next program
)

// Close gives the terminal back as it was found: what was printed is written, the zone is
// removed, the cursor is at the start of a row. It may be called more than once, and by
// any function. What is printed later is written at once.
func (t *Terminal) Close() {
	if t.plain != nil {
		t.plain.close()
		return
	}
	select {
	case <-t.answered:
	case <-time.After(answerPatience - time.Since(t.began)):
	}
	t.switching.Lock()
	defer t.switching.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	t.input.stop(closePatience)
	t.signals.stop()
	off := t.modesOff()
	t.painter.call(closePatience, func() { t.painter.remove(off) })
	_ = t.before.set(t.config.In)
	close(t.painter.quit)
	select {
	case <-t.painter.done:
	case <-time.After(closePatience):
	}
}

// modesOff returns the sequences that undo all modes, those of a program that has the
// terminal among them.
func (t *Terminal) modesOff() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lease.lent {
		return printable.EndSequence + alternateOff + sane + t.modes.off()
	}
	return t.modes.off()
}
