package agent

import (
	"context"
	"errors"
	"sync"
)

// compactionState is the compaction in progress, and whether one that nobody asks for
// may come: what did not help is not tried again before the model has given a good
// answer. The zero value is ready; all methods may be called from any goroutine.
type compactionState struct {
	mu     sync.Mutex         // guards what follows
	cancel context.CancelFunc // of the one in progress; nil for none
	tried  bool               // one that nobody asked for, since the last good answer
}

// begin makes a compaction one that can be cancelled, until end is called.
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

// noteTried notes that a compaction is tried which nobody asked for.
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
	// ErrCompactionWaits is told to whoever asks for a compaction while another
	// one that was asked for has not come to its turn.
	ErrCompactionWaits = errors.New("a compaction waits already")

	errLeft = errors.New("the session was left before it was compacted")
)

// compactRequest is a compaction that somebody wants done when it can be.
type compactRequest struct {
	CompactOptions
	done func(*Compacted, error)
}

// refuse tells whoever waits for the compaction that it does not happen. r may be nil.
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

// performRequested compacts if somebody requested that, and reports whether it did.
// What is too short in the middle of the work waits for its end.
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
