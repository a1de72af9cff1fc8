package callscope

import (
	"sync"
	"time"
)

// clock is how long a tool has run, without the time in which it waited for the person. The
// zero value is one that has not begun.
type clock struct {
	mu     sync.Mutex
	runs   bool          // the tool does
	waits  int           // questions that are open
	since  time.Time     // when the time began to run, or went on; zero: it stands
	before time.Duration // until it stood last
}

// change changes what the time depends on, and reports whether it runs from now on, and
// whether that is another thing than before.
func (c *clock) change(do func(*clock)) (runs, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do(c)
	runs = c.runs && c.waits == 0
	switch now := time.Now(); {
	case runs && c.since.IsZero():
		c.since = now
	case !runs && !c.since.IsZero():
		c.before, c.since = c.before+now.Sub(c.since), time.Time{}
	default:
		return runs, false
	}
	return runs, true
}

func (c *clock) took() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return c.before
	}
	return c.before + time.Since(c.since)
}
