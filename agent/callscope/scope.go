// Package callscope is what belongs to one call of a tool while that is on its way: its id,
// the calls that are made in it, and the time that the tool has run.
//
// A context that is marked with a scope belongs to the call, with all that is done in it. A
// question to the person that is asked with such a context is no time of the call, nor of
// those that it was made in:
//
//	defer callscope.AwaitPerson(ctx)()
//
// Everything may be used from any goroutine.
package callscope

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"time"
)

// Scope is one call.
type Scope struct {
	id     string
	in     *Scope // the call that this one was made in; nil: none
	nested atomic.Int64
	clock  clock
	tell   func(ctx context.Context, runs bool)
}

// New returns the scope of a call that is made with ctx. tell is called when its time begins,
// stands or goes on.
func New(ctx context.Context, id string, tell func(ctx context.Context, runs bool)) *Scope {
	return &Scope{id: id, in: from(ctx), tell: tell}
}

type key struct{}

// from is the innermost call that ctx belongs to; nil for none.
func from(ctx context.Context) *Scope {
	s, _ := ctx.Value(key{}).(*Scope)
	return s
}

// Mark returns a context that belongs to the call.
func (s *Scope) Mark(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, s) }

// CallID is the id of the call that ctx belongs to; "" for none.
func CallID(ctx context.Context) string {
	if s := from(ctx); s != nil {
		return s.id
	}
	return ""
}

// NewID returns the id of a call that the program makes: in another call it is that one's
// with a number.
func NewID(ctx context.Context) string {
	if in := from(ctx); in != nil {
		return fmt.Sprintf("%s/%d", in.id, in.nested.Add(1))
	}
	return "call_" + rand.Text()[:20]
}

// Measure has the time of the call run while f runs, which is the tool.
func (s *Scope) Measure(ctx context.Context, f func()) {
	s.change(ctx, func(c *clock) { c.runs = true })
	defer s.change(ctx, func(c *clock) { c.runs = false })
	f()
}

// Took is how long the tool has run, without its waits for the person.
func (s *Scope) Took() time.Duration { return s.clock.took() }

// AwaitPerson notes that what ctx belongs to waits for the person until end is called.
func AwaitPerson(ctx context.Context) (end func()) {
	innermost := from(ctx)
	wait := func(more int) {
		for s := innermost; s != nil; s = s.in {
			s.change(ctx, func(c *clock) { c.waits += more })
		}
	}
	wait(1)
	return func() { wait(-1) }
}

// change changes what the time depends on, and tells if it runs or stands with that.
func (s *Scope) change(ctx context.Context, do func(*clock)) {
	if runs, changed := s.clock.change(do); changed {
		s.tell(ctx, runs)
	}
}
