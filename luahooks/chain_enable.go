package luahooks

import (
	"context"
	"errors"
	"fmt"
)

// SetEnabled turns hooks of a name off or on for the session. What is off is out
// of force at once, its gates too: the person asked for it. Turning on loads the
// file anew; the error is why that did not work.
func (c *Chain) SetEnabled(ctx context.Context, name string, on bool) error {
	hooks, err := c.roster.named(name, c.dir)
	if err != nil {
		return err
	}
	if on {
		return c.enable(ctx, hooks)
	}
	c.changes.Lock()
	defer c.changes.Unlock()
	for _, h := range hooks {
		h.off.Store(true)
		c.gates.open(h)
		if in := h.now.Swap(nil); in != nil {
			in.close()
		}
	}
	c.takeEffect(ctx)
	return nil
}

// enable loads hooks as a reload does, with all that keeps a file from running.
func (c *Chain) enable(ctx context.Context, hooks []*hook) error {
	c.changes.Lock()
	for _, h := range hooks {
		if h.off.Store(false); h.current() == nil {
			h.sum, h.counts = notLooked, true
		}
	}
	c.changes.Unlock()
	c.Reload(ctx, false)
	var errs []error
	for _, h := range hooks {
		if h.current() == nil {
			errs = append(errs, fmt.Errorf("hook %s did not load: %s", h.Name, h.info(c).LastError))
		}
	}
	return errors.Join(errs...)
}

// Trace turns on or off that each event that hooks of a name handle is told to
// the person and written to the hook log.
func (c *Chain) Trace(name string, on bool) error {
	hooks, err := c.roster.named(name, c.dir)
	for _, h := range hooks {
		h.traced.Store(on)
	}
	return err
}
