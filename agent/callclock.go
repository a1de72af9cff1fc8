package agent

import (
	"context"
	"sync"
	"time"
)

// callClock is how long a tool has run, without the time in which it waited for the
// person. The zero value is one that has not begun.
type callClock struct {
	mu     sync.Mutex
	runs   bool
	waits  int           // questions that are open
	since  time.Time     // when the time began to run, or went on; zero: it stands
	before time.Duration // until it stood last
}

// change changes what the time depends on, and reports whether it runs from now on, if that
// is another thing than before.
func (c *callClock) change(do func()) (runs, changed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
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

// took is the time so far.
func (c *callClock) took() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return c.before
	}
	return c.before + time.Since(c.since)
}

// time has the clock of a call changed, and tells front ends if its time begins, stands or
// goes on with that.
func (s *callScope) time(ctx context.Context, do func(*callClock)) {
	if runs, changed := s.clock.change(func() { do(&s.clock) }); changed {
		s.events.emitAfter(ctx, KindToolClock, func() Event { return &ToolClock{s.id, runs} })
	}
}

// AwaitPerson notes that what ctx belongs to waits for the person until end is called: that
// is no time of the tool calls that it is a part of.
func AwaitPerson(ctx context.Context) (end func()) {
	innermost, _ := ctx.Value(callScopeKey{}).(*callScope)
	wait := func(more int) {
		for s := innermost; s != nil; s = s.in {
			s.time(ctx, func(c *callClock) { c.waits += more })
		}
	}
	wait(1)
	return func() { wait(-1) }
}
