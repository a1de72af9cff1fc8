package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/internal/printable"
	"pi/session"
	"pi/session/compaction"
	"pi/session/message"
	"pi/session/rawjson"
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

// Compact replaces the beginning of the conversation by a summary; the
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

// summary asks the listeners for a summary and, if none of them has one, the model. It
// returns the entry that is to be stored.
func (c *compactRun) summary(ctx context.Context) (session.Compaction, error) {
	d, err := c.askListeners(ctx)
	if err != nil {
		return session.Compaction{}, err
	}
	if d == nil {
		return c.askModel(ctx)
	}
	c.fromHook = true
	s := session.Compaction{Summary: d.Summary, FirstKeptEntryID: cmp.Or(d.FirstKeptEntryID, c.firstKept()),
		TokensBefore: cmp.Or(d.TokensBefore, c.plan.TokensBefore), Details: d.Details, FromHook: true}
	if s.Details == nil {
		s.Details = c.plan.Files.Details()
	}
	return s, nil
}

// askListeners emits session_before_compact and returns the summary of a hook, or nil.
// One that cannot be used is reported as the mistake of its hook.
func (c *compactRun) askListeners(ctx context.Context) (*CompactionDraft, error) {
	if !c.events.wants(KindSessionBeforeCompact) {
		return nil, nil
	}
	e := &SessionBeforeCompact{Preparation: Preparation{
		FirstKeptEntryID: c.firstKept(), FirstKeptEntryIndex: c.plan.FirstKeptIndex,
		MessagesToSummarize: c.plan.Summarize, TurnPrefixMessages: c.plan.TurnPrefix, IsSplitTurn: len(c.plan.TurnPrefix) > 0,
		TokensBefore: c.plan.TokensBefore, PreviousSummary: c.plan.PreviousSummary, FileOps: c.plan.Files,
		Settings: c.settings.get().Compaction,
	}, BranchEntries: c.branch, Messages: c.summarized(),
		CustomInstructions: c.Instructions, Model: c.model, Reason: c.reason, WillRetry: c.retries()}
	c.events.emitUntil(ctx, e, func() bool { return e.Cancel })
	switch d := e.Compaction; {
	case ctx.Err() != nil:
		return nil, ErrAborted
	case e.Cancel:
		return nil, unwantedCompaction{}
	case d == nil || d.Summary == "":
		return nil, nil
	case d.FirstKeptEntryID != "":
		if err := compaction.CanKeepFrom(c.branch, d.FirstKeptEntryID); err != nil {
			c.events.notifyf(ctx, LevelError, "%s: %s: first_kept_entry_id: %v", hookName(d.By), e.Kind(), err)
			return nil, nil
		}
	}
	return e.Compaction, nil
}

// unwantedCompaction is the error of a compaction that a listener cancels, in the words
// of commands that hooks cancel.
type unwantedCompaction struct{}

func (unwantedCompaction) Error() string { return "Compaction " + ErrCancelled.Error() }
func (unwantedCompaction) Unwrap() error { return ErrCancelled }

// summarized returns the messages that the summary replaces, including the beginning of a
// turn that is cut in two.
func (c *compactRun) summarized() []session.Item {
	return slices.Concat(c.plan.Summarize, c.plan.TurnPrefix)
}

// askModel has the model write the summary, with the words that hooks want.
func (c *compactRun) askModel(ctx context.Context) (session.Compaction, error) {
	w := summaryWriter{Ask: c.asker.askOutside, Now: c.asker.now, Instructions: c.Instructions}
	var preserved map[string]json.RawMessage
	if c.events.wants(KindSessionCompacting) {
		e := &SessionCompacting{SessionID: c.session.ID(), Messages: c.summarized()}
		c.events.emit(ctx, e)
		w.Added, w.Prompt, preserved = e.Context, e.Prompt, e.PreserveData
	}
	switch {
	case ctx.Err() != nil:
		return session.Compaction{}, ErrAborted
	case c.IfSmaller && !c.plan.IsSmaller():
		return session.Compaction{}, compaction.ErrNotSmaller
	case len(session.EditsOn(c.session.Branch()[len(c.branch):])) > 0: // what hooks removed just now is not summarised
		if err := c.prepare(ctx, c.conversation.runChain(ctx)); err != nil {
			return session.Compaction{}, err
		}
	}
	details, err := withData(c.plan.Files.Details(), preserved)
	if err != nil {
		return session.Compaction{}, err
	}
	w.Model, w.Longest, w.InputLimit = c.model, c.limits.Summary(), c.limits.Input(c.window)
	text, err := w.conversation(ctx, c.plan)
	if err != nil {
		c.asker.spending.record(ctx, session.UsageEntry{Kind: session.TypeCompaction, Provider: c.model.Provider, Model: c.model.ID, Usage: &w.Usage})
		return session.Compaction{}, err
	}
	if w.CutAt > 0 {
		c.events.notifyf(ctx, LevelWarning, "the summary was cut off at %d tokens, so its end is missing; raise compaction.reserve_tokens, or /uncompact and use another model", w.CutAt)
	}
	c.asker.spending.aside.add(&w.Usage)
	return session.Compaction{Summary: text, FirstKeptEntryID: c.firstKept(), TokensBefore: c.plan.TokensBefore,
		Details: details, Usage: &w.Usage}, nil
}

// withData adds the data of hooks to the details, whose own fields win.
func withData(details json.RawMessage, data map[string]json.RawMessage) (json.RawMessage, error) {
	if len(data) == 0 {
		return details, nil
	}
	own := map[string]json.RawMessage{}
	if len(details) > 0 {
		if err := json.Unmarshal(details, &own); err != nil {
			return nil, fmt.Errorf("details of the summary: %w", err)
		}
	}
	all := maps.Clone(data)
	maps.Copy(all, own)
	return rawjson.Encode(all)
}

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
