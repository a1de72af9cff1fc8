package agent

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
)

// The context is compacted without anybody's asking before a request for which
// it leaves too little of the model's window free, after a run that leaves it so,
// and when a provider says that a request does not fit. Between two of these,
// attempts included, there is a good answer of the model: what did not help once
// is not tried over and over.

// autoCompact compacts the context of one run without anybody's asking.
type autoCompact struct {
	*compactor
	noteSaved func(error) error // removes a failure to save, which does not end the run
	unwanted  bool              // no further one: the user stopped one, or one did not help
}

// contextForRequest runs the context chain and returns what the next request is made of.
// Before that it compacts, if a hook requested it or if the context nearly fills the
// window, but not while the model continues an answer of its own (resumes), which must be the
// last message. The user is told of a compaction that fails; the request is made without it.
func (c *autoCompact) contextForRequest(ctx context.Context, resumes bool) chained {
	seen := c.conversation.runChain(ctx)
	if resumes || ctx.Err() != nil {
		return seen
	}
	requested := func(ctx context.Context, _ chained) { c.performRequested(ctx, false) }
	for _, compact := range []func(context.Context, chained){requested, c.ifNearlyFull} {
		leaf := c.conversation.current().Leaf()
		compact(ctx, seen)
		if c.conversation.current().Leaf() != leaf { // also by a hook that rather did something else
			seen = c.conversation.runChain(ctx)
		}
	}
	return seen
}

// ifNearlyFull compacts a context that is over the threshold, and tells the user
// if that did not help.
func (c *autoCompact) ifNearlyFull(ctx context.Context, seen chained) {
	if !c.isNearlyFull(seen.items) {
		return
	}
	window := c.choice.model().ContextWindow
	done, err := c.perform(ctx, &compactRun{compactor: c.compactor, reason: CompactThreshold}, seen)
	switch {
	case done != nil && c.settings.get().Compaction.Full(done.After, window):
		c.unwanted = true // another would not help either
		c.events.notifyf(context.WithoutCancel(ctx), LevelWarning, "the context is still nearly full after the compaction, about %s of %s tokens: /context shows what takes the room; fewer tools, shorter instructions or a model with a larger window make some",
			printable.Grouped(done.After), printable.Grouped(window))
	case err != nil && done == nil && !isStopped(err) && !isNothingToDo(err):
		c.events.notifyf(context.WithoutCancel(ctx), LevelWarning, "the context is nearly full and was not compacted: %v", err)
	}
}

// isNearlyFull reports whether a context leaves too little of the window free, and an
// automatic compaction is allowed now.
func (c *autoCompact) isNearlyFull(items []session.Item) bool {
	return c.settings.get().Compaction.Enabled && c.may() && c.settings.get().Compaction.Full(c.meter.tokensOf(items), c.choice.model().ContextWindow)
}

// perform runs r, an automatic compaction, and remembers that one was tried, so that none
// follows before the next good answer. If the user stopped it, there is none for the
// rest of the run. A failure to save is noted and not returned.
func (c *autoCompact) perform(ctx context.Context, r *compactRun, seen chained) (*Compacted, error) {
	c.state.tried.Store(true)
	done, err := r.perform(ctx, seen)
	if errors.Is(err, ErrAborted) {
		c.unwanted = true
	}
	if done != nil {
		err = c.noteSaved(err)
	}
	return done, err
}

// may reports whether an automatic compaction is allowed: the model has given a good
// answer since the last one was done or tried, and neither did the user stop one in this
// run, nor was one of no use.
func (c *autoCompact) may() bool {
	return !c.state.tried.Load() && !c.unwanted && !freshlyCompacted(c.conversation.current().Branch())
}

// freshlyCompacted reports whether the branch has a compaction and, after it, no answer of
// the model that is neither failed nor interrupted.
func freshlyCompacted(branch []*session.Entry) bool {
	for _, e := range slices.Backward(branch) {
		if e.Type == session.TypeCompaction {
			return true
		}
		if e.Type != session.TypeMessage {
			continue
		}
		m := e.Message()
		if m != nil && m.Role == message.RoleAssistant && m.StopReason != message.StopError && m.StopReason != message.StopAborted {
			return false
		}
	}
	return false
}

// afterRun compacts at the end of a run what was requested or is nearly full, so that the
// next prompt has room. What the run has added since its last request goes through the
// context chain first.
func (c *autoCompact) afterRun(ctx context.Context) {
	if ctx.Err() != nil || c.performRequested(ctx, true) {
		return
	}
	if seen, _ := c.conversation.seen(); c.isNearlyFull(seen) {
		c.ifNearlyFull(ctx, c.conversation.runChain(ctx))
	}
}

// recover compacts when err says that the last request did not fit, so that it can be
// sent again; failed is its answer. Else it returns err, with what the
// user can do about it. The answer leaves the context before the compaction begins, as
// front ends of the protocol expect it, and stays out of it whatever comes of that: it
// says nothing to the model. In the file it stays.
func (c *autoCompact) recover(ctx context.Context, err error, failed answer) error {
	var overflow *llm.ProviderError
	if !errors.As(err, &overflow) || !overflow.Overflow {
		return err
	}
	if !c.settings.get().Compaction.Enabled || !c.may() {
		return tooLong(overflow)
	}
	if failed.entry != nil {
		_, unsaved := c.conversation.current().Append(session.TypeContextEdit, session.ContextEdit{TargetID: failed.entry.ID})
		if err := c.noteSaved(unsaved); err != nil {
			return err
		}
	}
	r := &compactRun{compactor: c.compactor, reason: CompactOverflow, failed: failed.message}
	done, why := c.perform(ctx, r, c.conversation.runChain(ctx))
	switch {
	case done != nil:
		return nil
	case errors.Is(why, ErrAborted) && ctx.Err() != nil:
		return ErrAborted
	case !isStopped(why) && !isNothingToDo(why):
		c.events.notifyf(ctx, LevelWarning, "the context did not fit and was not compacted: %v", why)
	}
	return tooLong(overflow)
}

// isOverflow reports whether err says that a request did not fit.
func isOverflow(err error) bool {
	var failed *llm.ProviderError
	return errors.As(err, &failed) && failed.Overflow
}

// tooLong returns e, the error of a request that did not fit and is not sent again, with
// what the user can do.
func tooLong(e *llm.ProviderError) error {
	with := *e
	with.NextStep = "the conversation does not fit the model's context window: /compact shortens it, /undo takes the last prompt back, /new begins another one, /model chooses a model with a larger window"
	return &with
}

// compactionState is the compaction in progress, and whether one that nobody asked for
// was tried. The zero value is ready; all methods may be called from any goroutine.
type compactionState struct {
	work.Interruptible
	tried atomic.Bool // one that nobody asked for, since the last good answer: it is not tried again before
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
