package children

import (
	"context"
	"slices"
	"time"

	"pi/agent"
	"pi/session/message"
)

// Child is an agent that works for another one, or waits for its turn. A nil *Child is the
// user's own agent, which needs no slot: it may wait for children, and nothing else.
type Child struct {
	family   *Family
	identity agent.Identity
	parent   *Child // nil: the user's own agent
	began    time.Time
	controls Controls
	call     string          // of a tool that it works for; "": for none
	progress *agent.Progress // what it tells of its work
	ended    chan struct{}

	// The lock of the family guards what follows.
	over     bool
	hasSlot  bool
	place    *place   // in the queue; nil for none
	asks     int      // requests to models that are on their way
	waitsFor []*Child // what its hooks wait for
	agent    *agent.Agent
	doing    doing
}

// Identity says which agent this is.
func (c *Child) Identity() agent.Identity { return c.identity }

// Parent returns the child that uses this one; nil for the user's own agent.
func (c *Child) Parent() *Child { return c.parent }

// Call returns the id of the tool call that the child works for, and whose progress it tells; "" for
// none.
func (c *Child) Call() string { return c.call }

// Is says which agent works as this child, as soon as there is one.
func (c *Child) Is(a *agent.Agent) {
	c.family.mu.Lock()
	defer c.family.mu.Unlock()
	c.agent = a
}

// AwaitSlot waits until the child may begin to work. The error is that of ctx.
func (c *Child) AwaitSlot(ctx context.Context) error { return c.family.take(ctx, c) }

// Ask waits until the child may make a request to a model, which it may at once unless its hooks
// wait for a child of its own. The caller calls answered at the end of the request. The error is
// that of ctx. It is what [agent.Options.Turn] is.
func (c *Child) Ask(ctx context.Context) (answered func(), err error) {
	c.change(func() { c.asks++ })
	answered = func() { c.change(func() { c.asks-- }) }
	if err := c.family.take(ctx, c); err != nil {
		answered()
		return nil, err
	}
	return answered, nil
}

// WaitFor waits until other has ended. Meanwhile c has no slot, and it takes it again before it
// goes on. The error is that of ctx, and says that other has not ended.
func (c *Child) WaitFor(ctx context.Context, other *Child) error {
	if c == nil {
		return other.await(ctx)
	}
	select {
	case <-other.ended:
		return nil
	default:
	}
	c.change(func() { c.waitsFor = append(c.waitsFor, other) })
	err := other.await(ctx)
	c.change(func() {
		at := slices.Index(c.waitsFor, other)
		c.waitsFor = slices.Delete(slices.Clone(c.waitsFor), at, at+1)
	})
	_ = c.family.take(ctx, c) // without the slot: the next request waits for one
	return err
}

// await waits for the end of the child.
func (c *Child) await(ctx context.Context) error {
	select {
	case <-c.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// change does something on which it depends whether the child needs a slot.
func (c *Child) change(do func()) {
	c.family.mu.Lock()
	defer c.family.mu.Unlock()
	do()
	c.family.giveBack(c)
}

// End takes the child out of the family, with its slot and its name. Further calls do nothing.
func (c *Child) End() {
	c.change(func() {
		if c.over {
			return
		}
		c.over = true
		c.family.children = slices.DeleteFunc(slices.Clone(c.family.children), func(other *Child) bool { return other == c })
		close(c.ended)
	})
}

// Ended is closed at the end of the child.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Steer gives the child a message before its next request; the error says that it has ended.
func (c *Child) Steer(ctx context.Context, text string) error { return c.controls.Steer(ctx, text) }

// Abort ends the child, and does not wait.
func (c *Child) Abort() { c.controls.Abort() }

// State is how far a child is.
type State struct {
	agent.Identity
	Doing  string        // a tool and what it is about, "thinking", "waits for a slot" or "waits for NAME"
	Usage  message.Usage // of it, and of the children that it used
	Priced bool          // all of that has a known price
	Ran    time.Duration // since it began, the wait for its slot included
}

// State returns how far the child is.
func (c *Child) State() State {
	c.family.mu.Lock()
	s := State{Identity: c.identity, Doing: c.nowDoing(), Priced: true, Ran: c.family.now().Sub(c.began)}
	a := c.agent
	c.family.mu.Unlock()
	if a != nil {
		s.Usage, s.Priced = a.Meter().Used()
	}
	return s
}

// Messages returns what was said in the session of the child so far; none before there is one.
func (c *Child) Messages() (said []*message.Message) {
	c.family.mu.Lock()
	a := c.agent
	c.family.mu.Unlock()
	if a == nil {
		return nil
	}
	for _, e := range a.Session().Branch() {
		if m := e.Message(); m != nil {
			said = append(said, m)
		}
	}
	return said
}
