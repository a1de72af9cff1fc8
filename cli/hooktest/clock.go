package hooktest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// clock is the time of a case. It runs as that of the machine does, and can be set forward:
// whoever sleeps until then wakes up in the order of the times, and sees that time.
type clock struct {
	mu       sync.Mutex // guards what follows
	ahead    time.Duration
	stopped  time.Time // the time while it is set forward; zero otherwise
	sleepers []*sleeper
	working  map[*sleeper]chan struct{} // calls of timers that were woken and have not returned
	changed  chan struct{}              // closed when sleepers or working change
}

// sleeper is a wait for a time.
type sleeper struct {
	due    time.Time
	wake   chan struct{}
	repeat bool // a call follows, for whose end the clock waits
}

func newClock() *clock {
	return &clock{working: map[*sleeper]chan struct{}{}, changed: make(chan struct{})}
}

// Now is the time of the case.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// now is Now; mu is held.
func (c *clock) now() time.Time {
	if !c.stopped.IsZero() {
		return c.stopped
	}
	return time.Now().Add(c.ahead)
}

// note tells who waits for it that something has changed. mu is held.
func (c *clock) note() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// add begins a wait until d has passed since from; if that is over, since now.
func (c *clock) add(from time.Time, d time.Duration, repeat bool) *sleeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); from.Add(d).Before(now) {
		from = now
	}
	s := &sleeper{due: from.Add(d), wake: make(chan struct{}), repeat: repeat}
	c.sleepers = append(c.sleepers, s)
	c.note()
	return s
}

// remove ends a wait.
func (c *clock) remove(s *sleeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sleepers = slices.DeleteFunc(c.sleepers, func(one *sleeper) bool { return one == s })
	c.note()
}

// sleep waits until s is due, by the machine or because the clock was set forward. It is
// false if ctx ended first.
func (c *clock) sleep(ctx context.Context, s *sleeper) bool {
	defer c.remove(s)
	timer := time.NewTimer(s.due.Sub(c.Now()))
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
			return true
		case <-ctx.Done():
			return false
		case <-timer.C:
			left := s.due.Sub(c.Now())
			if left <= 0 {
				return true
			}
			timer.Reset(left)
		}
	}
}

// Sleep waits for d; it is false if ctx ended first.
func (c *clock) Sleep(ctx context.Context, d time.Duration) bool {
	return c.sleep(ctx, c.add(c.Now(), d, false))
}

// Timer begins to wait for d. run calls f when that is over, and if again is set once more
// at the next multiple of d, and so on: a test counts the calls, however slow the machine is.
func (c *clock) Timer(d time.Duration, again bool) (run func(ctx context.Context, f func())) {
	s := c.add(c.Now(), d, true)
	return func(ctx context.Context, f func()) {
		for c.sleep(ctx, s) {
			f()
			before := s
			if again {
				s = c.add(before.due, d, true) // before the end is told: advance sees when it is due
			}
			c.end(before)
			if !again {
				return
			}
		}
		c.end(s)
	}
}

// end notes that the call behind a wait has returned, or does not come.
func (c *clock) end(s *sleeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done, ok := c.working[s]; ok {
		close(done)
		delete(c.working, s)
	}
	c.note()
}

// patience is how long advance waits for a call that may be asleep itself.
const patience = 2 * time.Second

// advance sets the clock forward by d. It returns when what was due by then has been done.
func (c *clock) advance(ctx context.Context, d time.Duration) {
	c.mu.Lock()
	until := c.now().Add(d)
	c.stopped = c.now()
	c.mu.Unlock()
	for ctx.Err() == nil {
		done, more := c.next(until)
		if !more {
			break
		}
		c.await(ctx, until, done)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead, c.stopped = time.Until(until), time.Time{}
}

// next wakes the sleeper that is due first, if that is not behind until, and sets the clock
// to its time. done is closed when what it does has been done; nil if nobody knows when.
func (c *clock) next(until time.Time) (done chan struct{}, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.firstDue(until)
	if s == nil {
		c.stopped = until
		return nil, false
	}
	if s.due.After(c.stopped) {
		c.stopped = s.due
	}
	if s.repeat {
		done = make(chan struct{})
		c.working[s] = done
	}
	c.sleepers = slices.DeleteFunc(c.sleepers, func(one *sleeper) bool { return one == s })
	close(s.wake)
	return done, true
}

// firstDue returns the sleeper that is due first, nil if none is by until. mu is held.
func (c *clock) firstDue(until time.Time) (first *sleeper) {
	for _, s := range c.sleepers {
		if !s.due.After(until) && (first == nil || s.due.Before(first.due)) {
			first = s
		}
	}
	return first
}

// await waits until done is closed, or somebody else is due by until: the call may sleep.
func (c *clock) await(ctx context.Context, until time.Time, done chan struct{}) {
	if done == nil {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		c.mu.Lock()
		changed, due := c.changed, c.firstDue(until) != nil && c.slept()
		c.mu.Unlock()
		if due {
			return
		}
		select {
		case <-done:
			return
		case <-changed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// slept reports whether somebody sleeps who is no timer: maybe the call that is waited for.
// mu is held.
func (c *clock) slept() bool {
	return slices.ContainsFunc(c.sleepers, func(s *sleeper) bool { return !s.repeat })
}
