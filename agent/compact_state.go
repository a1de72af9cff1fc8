package agent

import (
	"context"
	"errors"
	"sync/atomic"
)

// compactionState is the compaction in progress, and whether one that nobody asked for
// was tried. The zero value is ready; all methods may be called from any goroutine.
type compactionState struct {
	cancel atomic.Pointer[context.CancelFunc] // of the one in progress; nil for none
	tried  atomic.Bool                        // one that nobody asked for, since the last good answer: it is not tried again before
}

// begin returns the context of a compaction, which interrupt cancels until end is called.
func (c *compactionState) begin(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	c.cancel.Store(&cancel)
	return ctx, func() {
		c.cancel.Store(nil)
		cancel()
	}
}

// interrupt ends the compaction in progress and reports whether there was one.
func (c *compactionState) interrupt() bool {
	cancel := c.cancel.Load()
	if cancel != nil {
		(*cancel)()
	}
	return cancel != nil
}

var (
	// ErrCompactionWaits is returned for a request while an earlier one still waits.
	ErrCompactionWaits = errors.New("a compaction waits already")

	errLeft = errors.New("the session was left before it was compacted")
)

// compactRequest asks for a compaction as soon as it is possible.
type compactRequest struct {
	CompactOptions
	done func(*Compacted, error)
}

// refuse answers the one who requested a compaction with an error. r may be nil, for no
// request.
func (r *compactRequest) refuse(why error) {
	if r != nil {
		r.done(nil, why)
	}
}
