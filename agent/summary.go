package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"pi/session"
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

const branchGoOn = `The conversation was too long to read at once. This is your summary of its earlier part; write one summary of all of it:`

// branchSummaryTokens is the most that the summary of a branch may be.
const branchSummaryTokens = 4096

var errNoSummary = errors.New("the model gave no summary")

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
	w := branchWriter{Agent: a, model: a.Model(), instructions: o.Instructions, replace: o.Replace}
	text, err := w.write(ctx, items)
	if err != nil {
		w.recordUnused(ctx)
		return nil, err
	}
	return &session.BranchSummary{FromID: from, Summary: text, Details: session.FilesOf(items).Details(), Usage: &w.usage}, nil
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

// branchWriter has a model write the summary of a branch.
type branchWriter struct {
	*Agent
	model        *Model
	instructions string
	replace      bool
	usage        session.Usage
}

// write asks once, or, where the conversation is too long for the window, for
// one part after the other, each time with the summary of those before.
func (w *branchWriter) write(ctx context.Context, items []session.Item) (string, error) {
	parts := [][]session.Item{items}
	if limit := w.limit(); limit > 0 {
		parts = session.Chunks(items, limit)
	}
	summary := ""
	for _, part := range parts {
		prompt := session.Transcript(part) + "\n\n" + w.ask()
		if summary != "" {
			prompt += "\n\n" + branchGoOn + "\n\n" + session.Section("summary", summary)
		}
		var err error
		if summary, err = w.once(ctx, prompt); err != nil {
			return "", err
		}
	}
	return summary, nil
}

// limit is how many tokens of conversation fit into one request; 0: any number.
func (w *branchWriter) limit() int {
	window := w.model.ContextWindow
	if window <= 0 {
		return 0
	}
	return max((window-min(w.answer(), window/2))/4*3, 1)
}

func (w *branchWriter) answer() int {
	if w.model.MaxTokens > 0 {
		return min(w.model.MaxTokens, branchSummaryTokens)
	}
	return branchSummaryTokens
}

func (w *branchWriter) ask() string {
	switch {
	case w.instructions == "":
		return branchAsk
	case w.replace:
		return w.instructions
	}
	return branchAsk + "\n\nLook at this in particular: " + w.instructions
}

func (w *branchWriter) once(ctx context.Context, prompt string) (string, error) {
	question := session.Item{Message: w.userMessage([]session.Block{session.TextBlock(prompt)}), Index: -1}
	r := &Request{Model: w.model, System: branchSystem, Messages: session.ForModel([]session.Item{question}),
		Thinking: "off", MaxTokens: w.answer()}
	var answer Assembly
	err := w.askAside(ctx, r, &answer)
	m := w.assembled(w.model, &answer)
	addUsage(&w.usage, m.Usage)
	text := strings.TrimSpace(m.Text())
	switch {
	case ctx.Err() != nil:
		return "", ErrAborted
	case err != nil:
		return "", err
	case text == "":
		return "", errNoSummary
	}
	return text, nil
}

// recordUnused notes what was used for a summary that did not come.
func (w *branchWriter) recordUnused(ctx context.Context) {
	err := w.recordUsage(session.UsageEntry{Kind: session.TypeBranchSummary, Provider: w.model.Provider, Model: w.model.ID, Usage: &w.usage})
	if err != nil {
		w.Notify(context.WithoutCancel(ctx), LevelWarning, err.Error())
	}
}
