package command

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/session"
)

// treeWays are what can be done with an entry that was picked.
const (
	wayGo      = "go on from there"
	waySummary = "the same, with a summary of what is left behind"
	wayAbout   = "the same, with a summary that looks at something in particular"
	wayLabel   = "label it"
	wayBranch  = "branch off to a new session"
	wayBack    = "back to the tree"
)

// window is how many rows are offered at once: with the two that lead further
// they fill the list that a terminal shows.
const window = 27

// treePicker is the list that a person picks an entry from.
type treePicker struct {
	navigator
	filter   treeFilter
	unfolded map[string]bool
	from     int  // the first row that is shown
	placed   bool // from was chosen; else the leaf is
}

// pick lets the person pick entries of the tree, unfold branches and do something with an
// entry, until something was done or they leave the list.
func (t navigator) pick(ctx context.Context, s *session.Session, f treeFilter) (Outcome, error) {
	p := &treePicker{navigator: t, filter: f, unfolded: map[string]bool{}}
	if f.search != "" {
		p.unfolded = nil // what was looked for is shown
	}
	view := newTreeView(s, f)
	if len(view.nodes) == 0 {
		return Outcome{Status: nothingShown(f)}, nil
	}
	for {
		row, err := p.choose(ctx, view)
		switch {
		case err != nil:
			return Outcome{}, err
		case row == nil:
			return Outcome{Status: "nothing has moved"}, nil
		case row.folded > 0:
			p.unfolded[row.id] = true
			continue
		}
		if out, done, err := p.act(ctx, s, row.id); done || err != nil {
			return out, err
		}
	}
}

// choose lets the person pick a row of the tree; nil if they leave. A long tree is shown
// in parts: they can go to earlier and later rows first.
func (p *treePicker) choose(ctx context.Context, view *treeView) (*treeRow, error) {
	rows := view.rows(p.unfolded)
	if !p.placed { // the leaf is shown, with more before it than behind
		p.from = len(rows) - window
		if leaf := slices.IndexFunc(rows, func(r treeRow) bool { return r.leaf }); leaf >= 0 {
			p.from = leaf - window*2/3
		}
	}
	for {
		p.from = max(min(p.from, len(rows)-window), 0)
		to := min(p.from+window, len(rows))
		earlier, later := fmt.Sprintf("… %d rows before these", p.from), fmt.Sprintf("… %d rows after these", len(rows)-to)
		var choices []agent.Choice
		var o agent.DialogOptions
		if p.from > 0 {
			choices = append(choices, agent.Choice{Value: earlier, Further: true})
		}
		for _, row := range rows[p.from:to] {
			choices = append(choices, agent.Choice{Value: row.id, Label: row.text})
			if row.leaf {
				o.Default = []string{row.id}
			}
		}
		if to < len(rows) {
			choices = append(choices, agent.Choice{Value: later, Further: true})
		}
		choice, ok, err := selectOne(ctx, p.UI, "Tree (> you are here, * this branch, + folded)", choices, o)
		if err != nil || !ok {
			return nil, err
		}
		p.placed = true
		switch choice {
		case earlier:
			p.from -= window
		case later:
			p.from += window
		default:
			if i := slices.IndexFunc(rows[p.from:to], func(r treeRow) bool { return r.id == choice }); i >= 0 {
				return &rows[p.from+i], nil
			}
			return nil, nil
		}
	}
}

// act lets the person choose what to do with the entry id, and does it. done is false if
// they want to go back to the tree.
func (p *treePicker) act(ctx context.Context, s *session.Session, id string) (out Outcome, done bool, err error) {
	text, _ := entryText(s.Entry(id), true)
	way, ok, err := selectOne(ctx, p.UI, text, agent.Choices(wayGo, waySummary, wayAbout, wayLabel, wayBranch, wayBack), agent.DialogOptions{})
	if err != nil || !ok {
		return Outcome{Status: "nothing has moved"}, true, err
	}
	switch way {
	case wayGo:
		out, err = p.moveTo(ctx, id, agent.NavigateOptions{})
	case waySummary:
		out, err = p.moveTo(ctx, id, agent.NavigateOptions{Summarize: true})
	case wayAbout:
		out, err = p.summarise(ctx, id)
	case wayLabel:
		out, err = p.label(ctx, s, id)
	case wayBranch:
		out, err = branchTo(ctx, p.Agent, id)
	default:
		return Outcome{}, false, nil
	}
	return out, true, err
}

// summarise asks what the summary of the branch that is left should be about, and moves to
// the entry id.
func (p *treePicker) summarise(ctx context.Context, id string) (Outcome, error) {
	about, ok, err := p.UI.Input(ctx, "What should the summary look at?", "", agent.DialogOptions{})
	if err != nil || !ok {
		return Outcome{Status: "nothing has moved"}, err
	}
	return p.moveTo(ctx, id, agent.NavigateOptions{Summarize: true, Instructions: about})
}

func (p *treePicker) label(ctx context.Context, s *session.Session, id string) (Outcome, error) {
	name, ok, err := p.UI.Input(ctx, "Label", s.Labels()[id], agent.DialogOptions{})
	if err != nil || !ok {
		return Outcome{Status: "the label stays as it is"}, err
	}
	return setLabel(ctx, p.Agent, s, id, name)
}
