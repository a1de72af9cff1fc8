package children

import (
	"context"
	"slices"
)

// A child works while it has a slot, and there are as many slots as children may work at a time.
// One that only waits for a child of its own needs none: it gives its slot back and takes it
// again, so that those that are waited for can work, and all come to an end however few slots
// there are. It needs one again for a request that it makes meanwhile, for as long as that
// lasts. Who wants a slot that is not free stands in one queue, in order.

// place is where a child stands in the queue. All its goroutines that want a slot share one.
type place struct {
	child  *Child
	called chan struct{} // closed when the wait is over
	wanted int           // goroutines that wait
}

// needsSlot reports whether the child is at work; the caller has the lock.
func (c *Child) needsSlot() bool { return !c.over && (len(c.waitsFor) == 0 || c.asks > 0) }

// admit hands out the slots that are free; the caller has the lock.
func (f *Family) admit() {
	for f.working < f.limits.Max && len(f.queue) > 0 {
		p := f.queue[0]
		f.leave(p)
		p.child.hasSlot = true
		f.working++
	}
}

// leave ends the wait of a place; the caller has the lock.
func (f *Family) leave(p *place) {
	f.queue = slices.DeleteFunc(f.queue, func(other *place) bool { return other == p })
	p.child.place = nil
	close(p.called)
}

// giveBack takes slot and place from a child that needs neither; the caller has the lock.
func (f *Family) giveBack(c *Child) {
	if c.needsSlot() {
		return
	}
	if c.place != nil {
		f.leave(c.place)
	}
	if c.hasSlot {
		c.hasSlot = false
		f.working--
		f.admit()
	}
}

// take waits until the child has a slot, or needs none any more. With the error of ctx it has
// left the queue, unless another goroutine stands there too.
func (f *Family) take(ctx context.Context, c *Child) error {
	f.mu.Lock()
	if c.hasSlot || !c.needsSlot() {
		f.mu.Unlock()
		return ctx.Err()
	}
	if c.place == nil {
		c.place = &place{child: c, called: make(chan struct{})}
		f.queue = append(f.queue, c.place)
	}
	p := c.place
	p.wanted++
	f.admit()
	f.mu.Unlock()

	select {
	case <-p.called:
		return ctx.Err()
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.wanted--; p.wanted == 0 && c.place == p {
		f.leave(p)
	}
	return ctx.Err()
}
