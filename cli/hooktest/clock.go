package hooktest

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"pi/stdlib"
)

// clock is the time of a case. It goes on only when it is set forward, and by what a hook
// sleeps, and while the session ends, so that a test knows what is due; timers that are due go off in the order of their
// times, and see that time. It begins with the time of the machine.
type clock struct {
	mu       sync.Mutex // guards what follows
	now      time.Time
	sleepers []*sleeper        // in the order in which they are due
	working  map[*sleeper]bool // calls of timers that were woken, and what Begin was called for: they have not ended, and are waited for
	changed  chan struct{}     // closed when sleepers or working change
	turns    int               // given so far
	isSet    bool              // advance is under way: nothing else moves the clock
}

// sleeper is a wait for a time.
type sleeper struct {
	due   time.Time
	turn  int // of several that are due at once the lowest is the first
	wake  chan struct{}
	timer bool // a call follows, for whose end the clock waits
}

// compareDue orders those who wait: who is due first comes first.
func compareDue(a, b *sleeper) int { return cmp.Or(a.due.Compare(b.due), a.turn-b.turn) }

func newClock() *clock {
	return &clock{now: time.Now(), working: map[*sleeper]bool{}, changed: make(chan struct{})}
}

// Now is the time of the case.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// note tells who waits for it that something has changed. mu is held.
func (c *clock) note() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// add begins a wait until d has passed since now. before is the last wait of a timer that comes again
// and again, which keeps its turn and goes on from when it was due, if that is not over; nil for others.
func (c *clock) add(d time.Duration, timer bool, before *sleeper) *sleeper {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns++
	s := &sleeper{due: c.now.Add(d), turn: c.turns, wake: make(chan struct{}), timer: timer}
	if before != nil {
		s.turn = before.turn
		if next := before.due.Add(d); !next.Before(c.now) {
			s.due = next
		}
	}
	i, _ := slices.BinarySearchFunc(c.sleepers, s, compareDue)
	c.sleepers = slices.Insert(c.sleepers, i, s)
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

// Sleep waits until the clock is set forward by d, or for d by the clock of the machine, and
// then the clock is set forward: nobody has to wake a hook that only takes its time. It is
// false if ctx ended first.
func (c *clock) Sleep(ctx context.Context, d time.Duration) bool {
	over, stop := c.Wait(d)
	defer stop()
	select {
	case <-over:
		return true
	case <-ctx.Done():
		return false
	}
}

// never is when a wait without an end is due.
const never = 100 * 365 * 24 * time.Hour

// Wait is what Sleep does, until stop is called.
func (c *clock) Wait(d time.Duration) (over <-chan struct{}, stop func()) {
	if d < 0 {
		s := c.add(never, false, nil)
		return s.wake, func() { c.remove(s) }
	}
	s := c.add(d, false, nil)
	t := time.AfterFunc(d, func() { c.pass(s) })
	return s.wake, func() { t.Stop(); c.remove(s) }
}

// pass sets the clock forward to when s is due, once nothing else moves it, unless s was woken or
// removed.
func (c *clock) pass(s *sleeper) {
	for {
		c.mu.Lock()
		waits := slices.Contains(c.sleepers, s)
		if waits && !c.isSet {
			c.moveTo(s.due)
			waits = false
		}
		changed := c.changed
		c.mu.Unlock()
		if !waits {
			return
		}
		<-changed
	}
}

// Begin has advance wait until end is called, or the work sleeps.
func (c *clock) Begin() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &sleeper{}
	c.working[s] = true
	return func() { c.end(s) }
}

// Timer begins to wait for d. run calls f when the clock was set forward so far, and if again
// is set once more at the next multiple of d, and so on.
func (c *clock) Timer(d time.Duration, again bool) (run func(ctx context.Context, f func())) {
	s := c.add(d, true, nil)
	return func(ctx context.Context, f func()) {
		for c.awaitDue(ctx, s) {
			f()
			before := s
			if again {
				s = c.add(d, true, before) // before the end is told: advance sees when it is due
			}
			c.end(before)
			if !again {
				return
			}
		}
		c.end(s)
	}
}

// awaitDue waits until s is woken. It is false if ctx ended first.
func (c *clock) awaitDue(ctx context.Context, s *sleeper) bool {
	defer c.remove(s)
	select {
	case <-s.wake:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// end notes that the call behind a wait has returned, or does not come.
func (c *clock) end(s *sleeper) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.working, s)
	c.note()
}

// isDue reports whether somebody waits for a time up to t. mu is held.
func (c *clock) isDue(t time.Time) bool { return len(c.sleepers) > 0 && !c.sleepers[0].due.After(t) }

// next wakes the sleeper that is due first, if that is not behind until, and sets the clock
// to its time, or else to until; time does not go back. It reports whether somebody was woken. mu
// is held.
func (c *clock) next(until time.Time) bool {
	to, isDue := until, c.isDue(until)
	if isDue {
		s := c.sleepers[0]
		c.sleepers = slices.Delete(c.sleepers, 0, 1)
		if s.timer {
			c.working[s] = true
		}
		close(s.wake)
		to = s.due
	}
	if to.After(c.now) {
		c.now = to
	}
	return isDue
}

// moveTo sets the clock to a time, unless it is past that, and wakes who is due by then. mu is
// held.
func (c *clock) moveTo(t time.Time) {
	if t.Before(c.now) {
		t = c.now
	}
	for c.next(t) {
	}
}

// run lets the clock go as that of the machine, until ctx ends.
func (c *clock) run(ctx context.Context) {
	began, base := time.Now(), c.Now()
	for {
		c.mu.Lock()
		c.moveTo(base.Add(time.Since(began)))
		changed, next := c.changed, time.Hour
		if c.isDue(c.now.Add(next)) {
			next = c.sleepers[0].due.Sub(c.now)
		}
		c.mu.Unlock()
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// advance sets the clock forward by d. It returns when what was due by then has been done.
func (c *clock) advance(ctx context.Context, d time.Duration) {
	until := c.Now().Add(d)
	c.await(ctx, c.Now())
	c.set(true)
	defer c.set(false)
	for ctx.Err() == nil {
		c.mu.Lock()
		woken := c.next(until)
		c.mu.Unlock()
		if !woken {
			return
		}
		c.await(ctx, until)
	}
}

// set notes whether advance is under way.
func (c *clock) set(isSet bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isSet = isSet
	c.note()
}

// hasSleepers reports whether somebody sleeps for longer than d from now.
func (c *clock) hasSleepers(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.sleepers, func(s *sleeper) bool { return !s.timer && s.due.Sub(c.now) > d })
}

// patience is how long advance waits for calls that neither return nor sleep, such as one that
// listens to a server.
const patience = 2 * time.Second

// await waits until the calls of timers, and what hooks do beside, have ended, or sleep.
func (c *clock) await(ctx context.Context, until time.Time) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		c.mu.Lock()
		changed, quiet := c.changed, c.isQuiet(until)
		c.mu.Unlock()
		if quiet {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			c.mu.Lock()
			clear(c.working) // they are waited for no more
			c.mu.Unlock()
			return
		case <-ctx.Done():
			return
		}
	}
}

// isQuiet reports whether all that works sleeps, or one that sleeps is due by until. mu is
// held.
func (c *clock) isQuiet(until time.Time) bool {
	asleep := 0
	for _, s := range c.sleepers {
		if !s.timer {
			asleep++
		}
	}
	return len(c.working) <= asleep || c.isDue(until) && !c.sleepers[0].timer
}

// testClock is the time of the code of a test: that of the case that runs, so that a test sees
// what its hooks see.
type testClock struct{ file *file }

var _ stdlib.Clock = testClock{}

// Now is the time of the case; between cases that of the machine.
func (t testClock) Now() time.Time {
	if t.file.scene == nil {
		return time.Now()
	}
	return t.file.scene.stage.clock.Now()
}

// Sleep is that of the clock of the case.
func (t testClock) Sleep(ctx context.Context, d time.Duration) bool {
	return t.file.scene.stage.clock.Sleep(ctx, d)
}

// Wait is that of the clock of the case.
func (t testClock) Wait(d time.Duration) (over <-chan struct{}, stop func()) {
	return t.file.scene.stage.clock.Wait(d)
}

// Begin is that of the clock of the case.
func (t testClock) Begin() (end func()) { return t.file.scene.stage.clock.Begin() }

// Timer is that of the clock of the case.
func (t testClock) Timer(d time.Duration, again bool) func(ctx context.Context, f func()) {
	return t.file.scene.stage.clock.Timer(d, again)
}
