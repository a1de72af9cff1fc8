package agent

import (
	"context"
	"errors"
	"fmt"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
)

// compactor replaces the beginning of a conversation by a summary. Its methods are called
// while the agent is claimed, see [work.Claim]; only state may be used at any time.
type compactor struct {
	events       *listeners
	conversation *conversation
	choice       *choice
	meter        *Meter
	asker        *asker
	inbox        *Inbox // has the compaction that is requested
	settings     *inForce
	state        compactionState
}

// Compact puts a summary in the place of the beginning of the conversation; the
// entries stay in the file. The listeners are asked first. It may be called while no
// prompt runs (else the error is ErrNotIdle), and what it does can be interrupted with
// [Agent.Abort].
//
// The error wraps session.ErrNothingToCompact or session.ErrJustCompacted, for
// which nobody was called; ErrCancelled, ErrAborted, a *[llm.ProviderError]; or it is
// another failure to get a summary. Then the context is as it was. With a
// *[session.SaveError] comes a result: the context is compacted, but the file
// lacks it.
func (a *Agent) Compact(ctx context.Context, o CompactOptions) (*Compacted, error) {
	ctx, err := a.busy.Begin(ctx)
	if err != nil {
		return nil, ErrNotIdle
	}
	defer a.busy.End()
	return a.compactor.manual(ctx, o, true)
}

// manual compacts because somebody asked for it. atRest says that no prompt runs: then
// also a short conversation is summarised as a whole, for no work needs its last messages
// as they are.
func (c *compactor) manual(ctx context.Context, o CompactOptions, atRest bool) (*Compacted, error) {
	r := &compactRun{compactor: c, CompactOptions: o, reason: CompactManual, all: atRest}
	return r.perform(ctx, c.conversation.runChain(ctx))
}

// compactRun is a compaction on its way.
type compactRun struct {
	*compactor
	CompactOptions
	reason string
	all    bool             // where everything could be kept, nothing is
	failed *message.Message // the answer to a request that did not fit

	session  *session.Session
	model    *llm.Model // that writes the summary
	branch   []*session.Entry
	plan     *compaction.Plan
	limits   CompactionSettings // as the window of the model allows them
	window   int
	fromHook bool // a hook brought the summary
}

// perform compacts the context seen, and emits that it begins and how it ended. Every
// begin has an end event, also after a crash; without a result a session_compact_failed
// comes as well. A context with nothing to compact fails before any event.
func (c *compactRun) perform(ctx context.Context, seen chained) (done *Compacted, err error) {
	if err := c.prepare(ctx, seen); err != nil {
		return nil, err
	}
	ctx, stop := c.state.Begin(ctx)
	defer stop()
	c.emitBoth(ctx, func(auto bool) Event { return &CompactionStart{Reason: c.reason, Auto: auto, Failed: c.failed} })
	defer func() {
		if p := recover(); p != nil {
			done, err = nil, fmt.Errorf("compaction crashed: %v", p)
			c.emitFailed(ctx, err)
		}
		c.emitEnd(ctx, done, err)
	}()
	done, err = c.work(ctx)
	if done == nil {
		c.emitFailed(ctx, err)
	}
	return done, err
}

// prepare decides what is summarised and what stays, and stores that in c. It emits
// nothing, so a compaction that cannot be made is not announced.
func (c *compactRun) prepare(ctx context.Context, seen chained) (err error) {
	c.session = c.conversation.current()
	switch {
	case ctx.Err() != nil:
		return ErrAborted
	case c.session.ReadOnly():
		return session.ErrReadOnly
	}
	tokens := c.meter.tokensOf(seen.items)
	c.branch = seen.branch
	c.model = c.choice.model()
	c.window = c.model.ContextWindow
	if c.reason == CompactOverflow && (c.window <= 0 || tokens < c.window) {
		c.window = tokens // whatever is said of the model, this much was too much
	}
	c.limits = c.settings.get().Compaction.Within(c.window)
	c.plan, err = compaction.NewPlan(c.branch, seen.items, tokens, compaction.Limits{
		Keep: c.limits.KeepRecentTokens, Room: c.limits.KeepRecentTokens + c.limits.ReserveTokens/16, All: c.all,
		Beside: c.meter.promptSource().Tokens + c.meter.toolSource().Tokens, Smaller: c.IfSmaller && !c.events.wants(KindSessionBeforeCompact)}) // else a hook may have a summary
	return err
}

// work gets the summary, adds it to the session and emits that. A *[session.SaveError]
// comes with the result.
func (c *compactRun) work(ctx context.Context) (*Compacted, error) {
	s, err := c.summary(ctx)
	if err != nil {
		return nil, err
	}
	entry, unsaved := c.store(s)
	if entry == nil {
		return nil, fmt.Errorf("store the summary: %w", unsaved)
	}
	c.events.emitAfter(ctx, KindSessionCompact, func() Event {
		return &SessionCompact{Entry: entry, Summary: s.Summary, FromHook: s.FromHook, Reason: c.reason, WillRetry: c.retries()}
	})
	c.conversation.refresh(uncancelled(ctx))
	done := &Compacted{Entry: entry, Messages: len(c.plan.Summarize) + len(c.plan.TurnPrefix), FromHook: s.FromHook,
		Before: s.TokensBefore, After: c.meter.tokensSeen()}
	done.Usage.Add(s.Usage)
	return done, unsaved
}

// retries reports whether the request that did not fit is sent again after the compaction.
func (c *compactRun) retries() bool { return c.reason == CompactOverflow }

// store adds the entry to the session, and behind it the edits of the messages that
// remain, so that they are as before where somebody goes back to before the
// compaction. The error may be a *[session.SaveError], which comes with the entry.
func (c *compactRun) store(s session.Compaction) (*session.Entry, error) {
	s.About = c.branch[len(c.branch)-1]
	drafts := []session.Draft{{Type: session.TypeCompaction, Body: s}}
	edited := session.EditsOn(c.session.Branch()[len(c.branch):]) // after the plan was made
	if s.FirstKeptEntryID == c.firstKept() {
		for _, edit := range c.plan.Shorten {
			if edited[edit.TargetID] == nil {
				drafts = append(drafts, session.Draft{Type: session.TypeContextEdit, Body: edit})
			}
		}
	}
	entries, err := c.session.AppendAll(drafts)
	if len(entries) == 0 {
		return nil, err
	}
	return entries[0], err
}

// firstKept is the id of the first entry that the plan retains, "" if it retains none.
func (c *compactRun) firstKept() string {
	if c.plan.FirstKept == nil {
		return ""
	}
	return c.plan.FirstKept.ID
}

// emitBoth emits the event that build makes, and for an automatic compaction a second time
// as its auto_ kind.
func (c *compactRun) emitBoth(ctx context.Context, build func(auto bool) Event) {
	for _, auto := range []bool{false, true} {
		if e := build(auto); (!auto || c.reason != CompactManual) && c.events.wants(e.Kind()) {
			c.events.emit(uncancelled(ctx), e)
		}
	}
}

// emitEnd emits how the compaction ended.
func (c *compactRun) emitEnd(ctx context.Context, done *Compacted, err error) {
	c.emitBoth(ctx, func(auto bool) Event {
		e := &CompactionEnd{Auto: auto, Reason: c.reason, Done: done}
		if done == nil {
			e.Aborted, e.ErrorMessage = isStopped(err), err.Error()
			return e
		}
		e.Result, e.WillRetry = done.Entry, c.retries()
		return e
	})
}

// emitFailed emits that no summary was stored, and why.
func (c *compactRun) emitFailed(ctx context.Context, err error) {
	c.events.emitAfter(ctx, KindSessionCompactFailed, func() Event {
		return &SessionCompactFailed{Reason: c.reason, ErrorMessage: err.Error(), Aborted: isStopped(err), FromHook: c.fromHook}
	})
}

// isStopped reports whether err says that a user or a hook stopped the compaction.
func isStopped(err error) bool { return errors.Is(err, ErrAborted) || errors.Is(err, ErrCancelled) }

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

// performRequested runs the compaction that somebody requested while the agent was busy,
// answers the request, and reports whether the context was compacted. If there is too
// little to compact while the work goes on (atRest is false), the request stays until the
// end of the work.
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

// isNothingToDo reports whether there was nothing that a summary could stand for.
func isNothingToDo(err error) bool {
	return errors.Is(err, compaction.ErrNothingToCompact) || errors.Is(err, compaction.ErrJustCompacted) || errors.Is(err, compaction.ErrNotSmaller)
}

// Interrupt ends one thing that the agent does, and nothing else.
type Interrupt struct {
	parts *parts
	busy  *work.Claim
}

// Interrupt returns what ends one thing only.
func (a *Agent) Interrupt() Interrupt { return Interrupt{&a.parts, a.busy} }

// Work interrupts what [Agent.Abort] does. What it returns is closed when that has ended,
// whatever has begun since.
func (i Interrupt) Work() (ended <-chan struct{}) { return i.busy.Abort() }

// Compaction interrupts the compaction in progress: a run that it belongs to goes on as if
// it had failed. It reports whether there was one.
func (i Interrupt) Compaction() bool { return i.parts.compactor.state.Interrupt() }

// Retry ends the wait for another attempt of a model call in the conversation. The call is
// given up, and its run ends with an error that says so and wraps ErrAborted. It reports
// whether there was such a wait.
func (i Interrupt) Retry() bool { return i.parts.asker.waiting.Interrupt() }
