package agent

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// callScope is what belongs to one call of a tool while that is on its way: its id, the calls
// that are made in it, and the time that the tool has run. A context that is marked with it
// belongs to the call, with all that is done in it. It may be used from any goroutine.
type callScope struct {
	id     string
	in     *callScope // the call that this one was made in; nil: none
	nested atomic.Int64
	clock  callClock
	tell   func(ctx context.Context, runs bool)
}

// newCallScope returns the scope of a call that is made with ctx. tell is called when its time begins,
// stands or goes on.
func newCallScope(ctx context.Context, id string, tell func(ctx context.Context, runs bool)) *callScope {
	return &callScope{id: id, in: scopeOf(ctx), tell: tell}
}

type scopeKey struct{}

// scopeOf is the innermost call that ctx belongs to; nil for none.
func scopeOf(ctx context.Context) *callScope {
	s, _ := ctx.Value(scopeKey{}).(*callScope)
	return s
}

// mark returns a context that belongs to the call.
func (s *callScope) mark(ctx context.Context) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

// CallID returns the id of the tool call that ctx belongs to: the one that the listeners
// to tool_call or tool_result are asked about, or that runs; "" elsewhere. The dialogs of
// hooks get the context of what they are asked in.
func CallID(ctx context.Context) string {
	if s := scopeOf(ctx); s != nil {
		return s.id
	}
	return ""
}

// newCallID returns the id of a call that the program makes: in another call it is that one's
// with a number.
func newCallID(ctx context.Context) string {
	if in := scopeOf(ctx); in != nil {
		return fmt.Sprintf("%s/%d", in.id, in.nested.Add(1))
	}
	return "call_" + rand.Text()[:20]
}

// measure has the time of the call run while f runs, which is the tool.
func (s *callScope) measure(ctx context.Context, f func()) {
	s.change(ctx, func(c *callClock) { c.runs = true })
	defer s.change(ctx, func(c *callClock) { c.runs = false })
	f()
}

// took is how long the tool has run, without its waits for the user.
func (s *callScope) took() time.Duration { return s.clock.took() }

// AwaitUser notes that what ctx belongs to waits for the user until end is called. That is
// no time of the call, nor of those that it was made in.
func AwaitUser(ctx context.Context) (end func()) {
	innermost := scopeOf(ctx)
	wait := func(more int) {
		for s := innermost; s != nil; s = s.in {
			s.change(ctx, func(c *callClock) { c.waits += more })
		}
	}
	wait(1)
	return func() { wait(-1) }
}

// change changes what the time depends on, and tells if it runs or stands with that.
func (s *callScope) change(ctx context.Context, do func(*callClock)) {
	if runs, changed := s.clock.change(do); changed {
		s.tell(ctx, runs)
	}
}

// callClock is how long a tool has run, without the time in which it waited for the user. The
// zero value is one that has not begun.
type callClock struct {
	mu     sync.Mutex
	runs   bool          // the tool does
	waits  int           // questions that are open
	since  time.Time     // when the time began to run, or went on; zero: it stands
	before time.Duration // until it stood last
}

// change changes what the time depends on, and reports whether it runs from now on, and
// whether that is another thing than before.
func (c *callClock) change(do func(*callClock)) (runs, changed bool) {
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

func (c *callClock) took() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return c.before
	}
	return c.before + time.Since(c.since)
}
