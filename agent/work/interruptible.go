package work

import (
	"context"
	"sync/atomic"
)

// Interruptible is something that can be interrupted alone. The zero value is ready; all
// methods may be called from any goroutine.
type Interruptible struct {
	cancel atomic.Pointer[context.CancelFunc] // of what is in progress; nil for nothing
}

// Begin returns the context of what begins, which Interrupt cancels until end is called.
func (i *Interruptible) Begin(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	i.cancel.Store(&cancel)
	return ctx, func() {
		i.cancel.Store(nil)
		cancel()
	}
}

// Interrupt ends what is in progress and reports whether there was anything.
func (i *Interruptible) Interrupt() bool {
	cancel := i.cancel.Load()
	if cancel != nil {
		(*cancel)()
	}
	return cancel != nil
}
