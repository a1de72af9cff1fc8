// Package work is what goes on in an agent: one run at a time, or something that must
// not happen during one, which a [Claim] stands for, and any number of things beside it,
// such as commands of the user, in a [Group].
//
// What two runs leave to do between them, such as an entry that a command adds to the
// session, is done by [Claim.AfterRun]: it makes nobody believe that the agent works, and
// no run begins in the middle of it.
//
// Both can be interrupted and waited for. It knows nothing of the rest of the program.
package work

import (
	"context"
	"errors"
	"sync"
)

// ErrBusy is returned while another run is in progress.
var ErrBusy = errors.New("the agent is working")

// Claim is what occupies an agent. The zero value is idle. All methods may be called from
// any goroutine.
type Claim struct {
	mu     sync.Mutex         // guards all that follows; cancel and idle are set and cleared together
	cancel context.CancelFunc // of the run in progress, nil when idle
	idle   chan struct{}      // closed when the run in progress ends
	late   []func()           // what the run in progress does when it ends
	short  chan struct{}      // closed when what is done between two runs is done; nil: nothing is
}

// Begin claims the agent for one run and returns the context of that run, which Abort
// cancels. The error is ErrBusy if the agent is claimed already. Who got no error calls
// End when the run is over.
func (c *Claim) Begin(ctx context.Context) (context.Context, error) {
	c.lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		return nil, ErrBusy
	}
	ctx, c.cancel = context.WithCancel(ctx)
	c.idle = make(chan struct{})
	return ctx, nil
}

// lock waits until nothing is done between two runs, and locks.
func (c *Claim) lock() {
	c.mu.Lock()
	for c.short != nil {
		short := c.short
		c.mu.Unlock()
		<-short
		c.mu.Lock()
	}
}

// AfterRun calls f when no run is in progress: at once, with no run beginning meanwhile, or
// when the run in progress ends. f is short and claims nothing. All such functions are called
// one at a time, those that waited in their order.
func (c *Claim) AfterRun(f func()) {
	c.lock()
	if c.cancel != nil {
		c.late = append(c.late, f)
		c.mu.Unlock()
		return
	}
	c.short = make(chan struct{})
	c.mu.Unlock()
	f()
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.short)
	c.short = nil
}

// DoLate calls what AfterRun has kept for the end of the run, which is about to come. Whoever
// has claimed the agent may call it.
func (c *Claim) DoLate() {
	c.mu.Lock()
	late := c.late
	c.late = nil
	c.mu.Unlock()
	for _, f := range late {
		f()
	}
}

// Interrupt claims the agent as Begin does. What has claimed it is cancelled and waited
// for; the error is ctx's if that ends before.
func (c *Claim) Interrupt(ctx context.Context) (context.Context, error) {
	for {
		claimed, err := c.Begin(ctx)
		if err == nil {
			return claimed, nil
		}
		c.Abort()
		if err := c.WaitIdle(ctx); err != nil {
			return nil, err
		}
	}
}

// End frees the agent: it cancels the context that Begin returned and wakes everybody in
// WaitIdle. It is called once for each Begin that succeeded.
func (c *Claim) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.late) > 0 {
		c.mu.Unlock()
		c.DoLate()
		c.mu.Lock()
	}
	c.cancel()
	close(c.idle)
	c.cancel, c.idle = nil, nil
}

// IsIdle reports whether no prompt is running.
func (c *Claim) IsIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancel == nil
}

// WaitIdle returns when no prompt is running, or with ctx's error.
func (c *Claim) WaitIdle(ctx context.Context) error {
	c.mu.Lock()
	idle := c.idle
	c.mu.Unlock()
	if idle == nil {
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Abort interrupts the run in progress, if there is one, and does not wait. What it returns
// is closed when that run has ended; at once, if there is none.
func (c *Claim) Abort() (ended <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
		return c.idle
	}
	none := make(chan struct{})
	close(none)
	return none
}
