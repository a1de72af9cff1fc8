package terminal

import "time"

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
