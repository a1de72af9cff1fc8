package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"pi/session"
	"pi/session/compaction"
	"pi/session/rawjson"
)

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
