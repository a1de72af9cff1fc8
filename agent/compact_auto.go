package agent

import (
	"context"
	"errors"
	"slices"

	"pi/agent/llm"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// The context is compacted without anybody's asking before a request for which
// it leaves too little of the model's window free, after a run that leaves it so,
// and when a provider says that a request does not fit. Between two of these,
// attempts included, there is a good answer of the model: what did not help once
// is not tried over and over.

// contextForRequest returns what the next request is made of: what the context
// chain gives, after a compaction if hooks asked for one or if the context nearly
// fills the window. A compaction that fails is told and changes nothing.
func (r *run) contextForRequest(ctx context.Context) chained {
	seen := r.runChain(ctx)
	if r.resumes || ctx.Err() != nil {
		return seen
	}
	asked := func(ctx context.Context, _ chained) { r.compactAsked(ctx, false) }
	for _, compact := range []func(context.Context, chained){asked, r.compactIfNearlyFull} {
		leaf := r.Session().Leaf()
		compact(ctx, seen)
		if r.Session().Leaf() != leaf { // also by a hook that rather did something else
			seen = r.runChain(ctx)
		}
	}
	return seen
}

// compactIfNearlyFull compacts a context that is over the threshold, and tells the
// person if that did not help.
func (r *run) compactIfNearlyFull(ctx context.Context, seen chained) {
	if !r.nearlyFull(seen.items) {
		return
	}
	limits, window := r.settings.Compaction, r.Model().ContextWindow
	done, err := r.compactAlone(ctx, &compactRun{Agent: r.Agent, reason: CompactThreshold}, seen)
	switch {
	case done != nil && limits.full(done.After, window):
		r.unwanted = true // another would not help either
		r.notifyf(context.WithoutCancel(ctx), LevelWarning, "the context is still nearly full after the compaction, about %s of %s tokens: /context shows what takes the room; fewer tools, shorter instructions or a model with a larger window make some",
			grouped(done.After), grouped(window))
	case err != nil && done == nil && !stopped(err) && !nothingToDo(err):
		r.notifyf(context.WithoutCancel(ctx), LevelWarning, "the context is nearly full and was not compacted: %v", err)
	}
}

// nearlyFull reports whether a context is over the threshold, and something may
// be done about it.
func (r *run) nearlyFull(items []session.Item) bool {
	return r.settings.Compaction.full(r.tokensOf(items), r.Model().ContextWindow) && r.mayCompact()
}

// compactAlone runs a compaction that nobody asked for.
func (r *run) compactAlone(ctx context.Context, c *compactRun, seen chained) (*Compacted, error) {
	r.compacting.noteTried()
	done, err := c.perform(ctx, seen)
	if errors.Is(err, ErrAborted) {
		r.unwanted = true
	}
	if done != nil {
		err = r.saved(err)
	}
	return done, err
}

// mayCompact reports whether the context may be compacted without anybody's
// asking: the model has answered since that was done or tried last, and the
// person did not stop it in this run.
func (r *run) mayCompact() bool {
	return !r.compacting.wasTried() && !r.unwanted && !freshlyCompacted(r.Session().Branch())
}

// freshlyCompacted reports whether no good answer follows the last compaction of
// a branch.
func freshlyCompacted(branch []*session.Entry) bool {
	for _, e := range slices.Backward(branch) {
		if e.Type == session.TypeCompaction {
			return true
		}
		if e.Type != session.TypeMessage {
			continue
		}
		if m := e.Message(); m != nil && m.Role == message.RoleAssistant && isUsable(m) {
			return false
		}
	}
	return false
}

// isUsable reports whether the model can go on from an answer: it neither failed
// nor was interrupted.
func isUsable(m *message.Message) bool {
	return m.StopReason != message.StopError && m.StopReason != message.StopAborted
}

// nothingToDo reports whether there was nothing that a summary could stand for.
func nothingToDo(err error) bool {
	return errors.Is(err, compaction.ErrNothingToCompact) || errors.Is(err, compaction.ErrJustCompacted)
}

// afterRun makes room for the next prompt. What the run has added since its last
// request passes the context chain before it is summarised.
func (r *run) afterRun(ctx context.Context) {
	if ctx.Err() != nil || r.compactAsked(ctx, true) {
		return
	}
	if r.nearlyFull(r.Seen()) {
		r.compactIfNearlyFull(ctx, r.runChain(ctx))
	}
}

// recovered compacts when err says that the last request did not fit, so that it
// can be sent again. It returns what stands in the way: err, with what the person
// can do about it.
func (r *run) recovered(ctx context.Context, err error) error {
	var failed *llm.ProviderError
	if !errors.As(err, &failed) || !failed.Overflow {
		return err
	}
	if !r.settings.Compaction.Enabled || !r.mayCompact() {
		return tooLong(failed)
	}
	c := &compactRun{Agent: r.Agent, reason: CompactOverflow, failed: r.Session().Entry(r.lastEntry())}
	done, why := r.compactAlone(ctx, c, r.runChain(ctx))
	switch {
	case done != nil:
		return nil
	case errors.Is(why, ErrAborted) && ctx.Err() != nil:
		return ErrAborted
	case !stopped(why) && !nothingToDo(why):
		r.notifyf(ctx, LevelWarning, "the context did not fit and was not compacted: %v", why)
	}
	return tooLong(failed)
}

// lastEntry is the id of what this turn appended last.
func (r *run) lastEntry() string {
	if len(r.entries) == 0 {
		return ""
	}
	return r.entries[len(r.entries)-1]
}

// tooLong is the error of a request that did not fit and is not sent again.
func tooLong(e *llm.ProviderError) error {
	with := *e
	with.NextStep = "the conversation does not fit the model's context window: /compact shortens it, /undo takes the last prompt back, /new begins another one, /model chooses a model with a larger window"
	return &with
}
