package agent

import (
	"cmp"
	"context"
	"slices"

	"pi/session"
	"pi/session/compaction"
)

// The summary of a branch that is left: of what the model would see of its entries
// now, also of those that are gone from the context there by a compaction, whose
// summary is among them. What a hook took out stays out, also of what came after
// the last request; what a hook put in its place is summed up.

const branchSystem = `You write summaries of work on a computer. You are given the part of a conversation between a person and an assistant that the person has just left, to go on from an earlier point of it. Do not continue the conversation and do not answer anything in it. Write only the summary.`

const branchAsk = `Sum up what happened on this part of the conversation for an assistant that knows all of what came before it and nothing of it. Use these headings, and leave out those that have nothing below them:

## Goal
What the person wanted here.
## Done
What was tried and what came of it. Files on the disk are as this part has left them: say what was changed.
## Findings
What turned out, with exact paths, names, commands and error texts.
## Decisions
What was decided, and why.
## Open
What remained to be done.`

const branchGoOn = `The conversation was too long to read at once. The notes between the tags are your summary of its earlier part; write one summary of all of it.`

// branchSummary returns the body of the entry that sums up what is left, by a
// listener or by the model; nil if there is nothing to sum up.
func (a *Agent) branchSummary(ctx context.Context, s *session.Session, before *SessionBeforeTree, o NavigateOptions) (*session.BranchSummary, error) {
	p := before.Preparation
	from := cmp.Or(p.OldLeafID, "root")
	if d := before.Summary; d != nil && d.Summary != "" {
		return &session.BranchSummary{FromID: from, Summary: d.Summary, Details: d.Details, FromHook: true}, nil
	}
	items := leftBehind(a.Context(ctx), p.EntriesToSummarize)
	switch {
	case ctx.Err() != nil: // the chain may have been cut short: what is in the list is not what hooks let through
		return nil, ErrAborted
	case len(session.ForModel(items)) == 0:
		return nil, nil
	}
	a.Notify(ctx, LevelInfo, "summing up the branch that is left")
	w := a.branchWriter(o)
	text, err := w.inParts(ctx, items, "", branchTask, w.most)
	if err != nil {
		w.recordUnused(ctx, session.TypeBranchSummary)
		return nil, err
	}
	if w.cut > 0 {
		a.notifyf(ctx, LevelWarning, "the summary was cut off at %d tokens, so its end is missing; /redo comes back to the branch that was left", w.cut)
	}
	return &session.BranchSummary{FromID: from, Summary: text, Details: compaction.FilesOf(items).Details(), Usage: &w.usage}, nil
}

// leftBehind are the messages that come from entries, and those that come from
// none behind all that stays.
func leftBehind(seen []session.Item, entries []*session.Entry) []session.Item {
	left, said := make(map[*session.Entry]bool, len(entries)), false
	for _, e := range entries {
		left[e], said = true, said || e.Message() != nil
	}
	if !said {
		return nil
	}
	var items []session.Item
	for _, it := range seen {
		switch {
		case it.Entry == nil || left[it.Entry]:
			items = append(items, it)
		default:
			items = slices.DeleteFunc(items, func(it session.Item) bool { return it.Entry == nil })
		}
	}
	return items
}

// branchTask is what the model is asked for, with the summary of the parts before
// if there are any.
func branchTask(previous string) string {
	if previous != "" {
		return branchGoOn + "\n\n" + branchAsk
	}
	return branchAsk
}

func (a *Agent) branchWriter(o NavigateOptions) *summaryWriter {
	model := a.Model()
	limits := a.settings.Compaction.within(model.ContextWindow)
	w := &summaryWriter{Agent: a, model: model, system: branchSystem, instructions: o.Instructions,
		most: limits.summary(), inputLimit: limits.input(model.ContextWindow)}
	if o.Replace {
		w.instructions, w.prompt = "", o.Instructions
	}
	return w
}
