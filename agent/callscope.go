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
	tell   func(ctx context.Context, runs bool)

	mu     sync.Mutex    // guards what follows
	runs   bool          // the tool does
	waits  int           // questions that are open
	since  time.Time     // when the time began to run, or went on; zero: it stands
	before time.Duration // until it stood last
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
	s.change(ctx, func() { s.runs = true })
	defer s.change(ctx, func() { s.runs = false })
	f()
}

// took is how long the tool has run, without its waits for the user.
func (s *callScope) took() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return s.before
	}
	return s.before + time.Since(s.since)
}

// AwaitUser notes that what ctx belongs to waits for the user until end is called. That is
// no time of the call, nor of those that it was made in.
func AwaitUser(ctx context.Context) (end func()) {
	innermost := scopeOf(ctx)
	wait := func(more int) {
		for s := innermost; s != nil; s = s.in {
			s.change(ctx, func() { s.waits += more })
		}
	}
	wait(1)
	return func() { wait(-1) }
}

// change calls do, which changes what the time depends on, and tells if the time runs or
// stands with that.
func (s *callScope) change(ctx context.Context, do func()) {
	s.mu.Lock()
	do()
	runs, ran := s.runs && s.waits == 0, !s.since.IsZero()
	switch now := time.Now(); {
	case runs && !ran:
		s.since = now
	case !runs && ran:
		s.before, s.since = s.before+now.Sub(s.since), time.Time{}
	}
	s.mu.Unlock()
	if runs != ran {
		s.tell(ctx, runs)
	}
}
