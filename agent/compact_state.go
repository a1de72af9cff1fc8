package agent

import (
	"context"
	"errors"
	"sync"
)

// compactionState is the compaction in progress, and whether one that nobody asked for
// was tried: it is not tried again before the model has given a good answer. The zero
// value is ready; all methods may be called from any goroutine.
type compactionState struct {
	mu     sync.Mutex         // guards what follows
	cancel context.CancelFunc // of the one in progress; nil for none
	tried  bool               // one that nobody asked for, since the last good answer
}

// begin returns the context of a compaction, which interrupt cancels until end is called.
func (c *compactionState) begin(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	c.set(cancel)
	return ctx, func() {
		c.set(nil)
		cancel()
	}
}

func (c *compactionState) set(cancel context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
}

// interrupt ends the compaction in progress and reports whether there was one.
func (c *compactionState) interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel()
	}
	return c.cancel != nil
}

// noteTried notes that a compaction is tried that nobody asked for.
func (c *compactionState) noteTried() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried = true
}

// noteGoodAnswer allows the next one that nobody asks for.
func (c *compactionState) noteGoodAnswer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tried = false
}

func (c *compactionState) wasTried() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tried
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

// refuse answers a request with an error. r may be nil.
func (r *compactRequest) refuse(why error) {
	if r != nil {
		r.done(nil, why)
	}
}
