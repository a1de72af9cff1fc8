package terminal

import (
	"strings"
	"time"

	"pi/internal/cells"
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

// Redraw sets the terminal up anew and draws the zone in its place, for a user who sees
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

// lease is whether another program has the terminal, and since when it has it no more.
type lease struct {
	lent   bool
	killed bool // the other program was killed
	ended  time.Time
}

// interruptPatience is how late an interrupt that ended the other program may reach this one. The
// system sends it to both at once, and the end of that program may be seen first.
const interruptPatience = 500 * time.Millisecond

func (l *lease) set(lent bool) {
	if l.lent && !lent {
		l.ended = time.Now()
	}
	l.lent, l.killed = lent, false
}

// takesInterrupts reports whether an interrupt that comes now was for the other program.
func (l *lease) takesInterrupts() bool {
	return l.lent || time.Since(l.ended) < interruptPatience
}

// Sequences that the keyboard of a terminal is set up with.
const (
	pasteOn  = "\x1b[?2004h" // pastes are told from keys
	pasteOff = "\x1b[?2004l"

	focusOn  = "\x1b[?1004h"
	focusOff = "\x1b[?1004l"

	kittyPush    = "\x1b[>5u" // keys that are the same elsewhere differ, with the characters of other layouts
	kittyPop     = "\x1b[<u"
	kittyPopAll  = "\x1b[<99u"
	kittyRelease = "\x1b[=7u" // the release of keys too
	kittyUsual   = "\x1b[=5u"

	otherKeysOn  = "\x1b[>4;1m" // the same in xterm, for keys that have no code of their own
	otherKeysOff = "\x1b[>4m"

	mouseOff     = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l"
	alternateOff = "\x1b7\x1b[?1049l" // the cursor stays where no alternate screen is shown
)

// sane undoes what a program that was killed may have done to the terminal: a sequence that
// it did not end, margins, insertion, another set of characters, the codes of the arrow keys,
// the mouse.
const sane = printable.EndSequence + styleEnd + "\x0f\x1b(B\x1b[4l\x1b[?1l\x1b>" + wrapOn + "\x1b7\x1b[r\x1b8" + mouseOff + showCursor

// Reset is what a program that ends by force writes, so that the terminal
// is as other programs want it: it undoes all that a [Terminal] or a program that had
// it may have set, whether it did or not.
const Reset = printable.EndSequence + alternateOff + pasteOff + focusOff + mouseOff + "\x1b7" + kittyPop + "\x1b8" + otherKeysOff + styleEnd + wrapOn + showCursor

// modes is what is asked of the terminal beside the mode of its line.
type modes struct {
	focus    bool // it tells when its window comes to the front
	kitty    bool // it speaks the keyboard protocol of kitty
	releases bool // the release of keys is wanted
	other    bool // it does not, but may know the protocol of xterm
}

// on returns the sequences that set the modes.
func (m modes) on() string {
	var s strings.Builder
	s.WriteString(pasteOn)
	if m.focus {
		s.WriteString(focusOn)
	}
	s.WriteString(m.keyboardOn())
	return s.String()
}

// keyboardOn returns those of them that are known only when the terminal has answered.
func (m modes) keyboardOn() string {
	switch {
	case m.kitty && m.releases:
		return kittyPush + kittyRelease
	case m.kitty:
		return kittyPush
	case m.other:
		return otherKeysOn
	}
	return ""
}

// off returns the sequences that undo what on has set.
func (m modes) off() string {
	var s strings.Builder
	s.WriteString(pasteOff)
	if m.focus {
		s.WriteString(focusOff)
	}
	switch {
	case m.kitty:
		s.WriteString(kittyPop)
	case m.other:
		s.WriteString(otherKeysOff)
	}
	return s.String()
}

// onMain is again behind what leaves the alternate screen: each screen may have a keyboard
// of its own.
func (m modes) onMain() string { return printable.EndSequence + alternateOff + m.again() }

// again returns what undoes the traces of another program that had the terminal, and sets
// the modes.
func (m modes) again() string {
	if m.kitty {
		return sane + kittyPopAll + m.on()
	}
	return sane + m.on()
}

// Notice returns the sequence that tells a user of something where they look at another
// window: for "bell" the bell, for "osc9" a notice of the desktop with the text, which may be
// anybody's; "" for any other way. Inside of tmux the notice is wrapped, so that the terminal
// around it gets it where tmux passes such on.
func Notice(way, text string, inTmux bool) string {
	const most = 100 // cells; longer ones are cut by those who show them
	// The text does not begin with a number, which is a command of some terminals.
	notice := "\x1b]9;pi: " + cells.Cut(printable.Line(text), most) + "\x07"
	switch {
	case way == "bell":
		return "\x07"
	case way != "osc9":
		return ""
	case inTmux:
		return "\x1bPtmux;" + strings.ReplaceAll(notice, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return notice
}
