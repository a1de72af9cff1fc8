package agent

import (
	"cmp"
	"context"
	"slices"

	"pi/agent/summary"
	"pi/session"
	"pi/session/compaction"
)

// A branch that is left is summed up as the model would see it now: with the summary of
// a compaction in place of what that left out, without what hooks remove, and with what
// they put in its place.

// summarize returns the body of the entry that sums up what is left, by a
// listener or by the model; nil if there is nothing to sum up.
func (t *tree) summarize(ctx context.Context, before *SessionBeforeTree, o NavigateOptions) (*session.BranchSummary, error) {
	p := before.Preparation
	from := cmp.Or(p.OldLeafID, "root")
	if d := before.Summary; d != nil && d.Summary != "" {
		return &session.BranchSummary{FromID: from, Summary: d.Summary, Details: d.Details, FromHook: true}, nil
	}
	items := abandoned(t.conversation.runChain(ctx).items, p.EntriesToSummarize)
	switch {
	case ctx.Err() != nil: // the chain may have been cut short, and items lack the changes of hooks
		return nil, ErrAborted
	case len(session.ForModel(items)) == 0:
		return nil, nil
	}
	t.events.Notify(ctx, LevelInfo, "summing up the branch that is left")
	model := t.choice.model()
	limits := t.settings.within(model.ContextWindow)
	w := summary.Writer{Ask: t.asker.askOutside, Model: model, Instructions: o.Instructions,
		Longest: limits.summary(), InputLimit: limits.input(model.ContextWindow)}
	if o.Replace {
		w.Instructions, w.Prompt = "", o.Instructions
	}
	text, err := w.Branch(ctx, items)
	if err != nil {
		t.asker.spending.record(ctx, session.UsageEntry{Kind: session.TypeBranchSummary, Provider: model.Provider, Model: model.ID, Usage: &w.Usage})
		return nil, err
	}
	if w.CutAt > 0 {
		t.events.notifyf(ctx, LevelWarning, "the summary was cut off at %d tokens, so its end is missing; /redo comes back to the branch that was left", w.CutAt)
	}
	return &session.BranchSummary{FromID: from, Summary: text, Details: compaction.FilesOf(items).Details(), Usage: &w.Usage}, nil
}

// abandoned are the messages in seen that come from entries, and those without an entry
// behind the last message that stays.
func abandoned(seen []session.Item, entries []*session.Entry) []session.Item {
	if !slices.ContainsFunc(entries, func(e *session.Entry) bool { return e.Message() != nil }) {
		return nil
	}
	left := make(map[*session.Entry]bool, len(entries))
	for _, e := range entries {
		left[e] = true
	}
	var items []session.Item
	for _, it := range seen {
		if it.Entry == nil || left[it.Entry] {
			items = append(items, it)
		} else {
			items = slices.DeleteFunc(items, func(it session.Item) bool { return it.Entry == nil })
		}
	}
	return items
}
