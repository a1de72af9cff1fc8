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

// RequestCompact has the context compacted as soon as it can be, and returns at
// once: while a prompt runs, before its next request or at its end, otherwise
// when the front end gets to it (see [Inbox.Submitted]). done is called once with
// what [Agent.Compact] returns, or with ErrCompactionWaits, on another goroutine or
// before RequestCompact returns, and must not wait.
func (a *Agent) RequestCompact(o CompactOptions, done func(*Compacted, error)) {
	if !a.inbox.putCompact(&compactRequest{o, done}) {
		done(nil, ErrCompactionWaits)
	}
}

// performRequested compacts if somebody requested that, and reports whether it did. A
// context that is too short for it while the work goes on is compacted at its end.
func (c *compactor) performRequested(ctx context.Context, atRest bool) bool {
	request := c.inbox.waitingCompact()
	if request == nil {
		return false
	}
	done, err := c.manual(ctx, request.CompactOptions, atRest)
	if !atRest && isNothingToDo(err) || c.inbox.takeCompact() == nil {
		return false
	}
	if done != nil {
		c.events.Notify(context.WithoutCancel(ctx), LevelInfo, done.String())
	}
	request.done(done, err)
	return done != nil
}
