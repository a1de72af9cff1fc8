package command

import (
	"context"
	"fmt"
	"slices"

	"pi/agent"
	"pi/internal/printable"
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

// treePicker is the list that a user picks an entry from.
type treePicker struct {
	navigator
	filter   treeFilter
	unfolded map[string]bool
	from     int  // the first row that is shown
	placed   bool // from was chosen; else the leaf is
}

// pickInLines lets the user pick entries of the tree, unfold branches and do something with an
// entry, until something was done or they leave the list.
func (t navigator) pickInLines(ctx context.Context, s *session.Session, f treeFilter) (Outcome, error) {
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
			return unchosen("nothing has moved"), nil
		case row.folded > 0:
			p.unfolded[row.id] = true
			continue
		}
		switch way, ok, err := p.askWay(ctx, s, row.id); {
		case err != nil || !ok:
			return unchosen("nothing has moved"), err
		case way != wayBack:
			return p.act(ctx, s, row.id, way)
		}
	}
}

// choose lets the user pick a row of the tree; nil if they leave. A long tree is shown
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

// askWay lets the user choose what to do with the entry id; ok is false if they leave.
func (t navigator) askWay(ctx context.Context, s *session.Session, id string) (way string, ok bool, err error) {
	text, _ := entryText(s.Entry(id), true)
	return selectOne(ctx, t.UI, text, agent.Choices(wayGo, waySummary, wayAbout, wayLabel, wayBranch, wayBack), agent.DialogOptions{})
}

// act does with the entry id what the user has chosen.
func (t navigator) act(ctx context.Context, s *session.Session, id, way string) (Outcome, error) {
	switch way {
	case waySummary:
		return t.moveTo(ctx, id, agent.NavigateOptions{Summarize: true})
	case wayAbout:
		about, ok, err := t.UI.Input(ctx, "What should the summary look at?", "", agent.DialogOptions{})
		if err != nil || !ok {
			return unchosen("nothing has moved"), err
		}
		return t.moveTo(ctx, id, agent.NavigateOptions{Summarize: true, Instructions: about})
	case wayLabel:
		return t.label(ctx, s, id)
	case wayBranch:
		return branchTo(ctx, t.Agent, id)
	}
	return t.moveTo(ctx, id, agent.NavigateOptions{})
}

// label asks for the label of the entry id. Where a text can be edited, an empty one takes
// the label away.
func (t navigator) label(ctx context.Context, s *session.Session, id string) (Outcome, error) {
	name, ok, err := "", false, error(nil)
	if ui, edits := t.UI.(Lister); edits {
		name, ok, err = ui.EditText(ctx, "Label", s.Labels()[id])
	} else {
		name, ok, err = t.UI.Input(ctx, "Label", s.Labels()[id], agent.DialogOptions{})
	}
	if err != nil || !ok {
		return Outcome{Status: "the label stays as it is"}, err
	}
	return setLabel(ctx, t.Agent, s, id, name)
}

// The keys of the tree besides Enter.
const (
	keyFilter = "tab"
	keyLabel  = "ctrl+l"
)

// treeList is the tree of a session in a terminal with arrows.
type treeList struct {
	navigator
	session *session.Session
	filter  treeFilter
	ctx     context.Context // dialogs in it stand above the list
	panel   List
}

// pick lets the user pick entries of the tree until something was done with one, or they
// leave the list.
func (t navigator) pick(ctx context.Context, s *session.Session, f treeFilter) (Outcome, error) {
	p := &treeList{navigator: t, session: s, filter: f}
	v := p.view()
	if len(v.Rows) == 0 {
		return Outcome{Status: nothingShown(f)}, nil
	}
	p.ctx, p.panel = OpenList(ctx, t.UI, v)
	if p.panel == nil {
		return t.pickInLines(ctx, s, f)
	}
	defer p.panel.Close()
	for {
		x, err := p.panel.Next()
		switch {
		case err != nil:
			return Outcome{}, err
		case x.Key == "":
			return unchosen("nothing has moved"), nil
		case x.Key == keyFilter:
			p.filter = p.filter.next()
		case x.Row == "":
		case x.Key == keyLabel:
			err = p.tell(p.label(p.ctx, s, x.Row))
		default:
			way, ok, asked := p.askWay(p.ctx, s, x.Row)
			switch {
			case asked != nil:
				return Outcome{}, asked
			case ok && way == wayLabel:
				err = p.tell(p.label(p.ctx, s, x.Row))
			case ok && way != wayBack:
				p.panel.Close()
				return p.act(ctx, s, x.Row, way)
			}
		}
		if err != nil {
			return Outcome{}, err
		}
		p.panel.Show(p.view())
	}
}

// tell shows what was done while the list is open. The error is that of the context.
func (p *treeList) tell(out Outcome, err error) error {
	if err != nil {
		p.UI.Notify(err.Error(), agent.LevelError)
		return p.ctx.Err()
	}
	p.UI.Notify(out.Status, agent.LevelInfo)
	return nil
}

// view is the tree as it is now.
func (p *treeList) view() ListView {
	view := newTreeView(p.session, p.filter)
	v := ListView{Title: "Tree · " + p.filter.meaning(), Right: "> you are here · * this branch", Enter: "choose",
		Keys: []ListKey{{keyFilter, "show others"}, {keyLabel, "label"}}}
	lost := p.lost(view)
	for _, row := range view.rows(nil) {
		v.Rows = append(v.Rows, p.row(view, row, lost))
	}
	if view.leaf >= 0 {
		v.Initial = view.nodes[view.leaf].entry.ID
	} else if n := len(v.Rows); n > 0 {
		v.Initial = v.Rows[n-1].ID
	}
	return v
}

// row is a row of the tree with what moving there means. A branch that leaves another can
// be folded into its first row, and is unless it was looked for.
func (p *treeList) row(view *treeView, r treeRow, lost []int) Row {
	n := view.nodes[r.node]
	label := ""
	if name := view.names[r.id]; name != "" {
		label = "[" + printable.Cut(name, titleLength) + "]"
	}
	found := "" // what the row is found by besides its own text
	if m := n.entry.Message(); m != nil {
		const most = 4 << 10 // bytes
		found = m.Text() + "\n" + m.Summary + "\n" + m.Command
		found = found[:min(len(found), most)]
	}
	text := view.mark(r.node) + " " + n.text
	return Row{ID: r.id, Columns: []string{text, label}, Description: effect(n, r.leaf, lost[r.node]), Search: found, Sought: r.id,
		Depth: r.depth, Parent: r.branch, Folded: r.first && n.below > 0 && p.filter.search == "", Dim: !n.active}
}

// effect says what moving to an entry does. lost is how many messages are left behind.
func effect(n treeNode, leaf bool, lost int) string {
	text := "go on here"
	if _, kind := entryText(n.entry, false); kind == kindUser {
		text = "edit it again"
	} else if leaf {
		return "you are here"
	}
	if lost > 0 {
		text += fmt.Sprintf(" · leaves %d", lost)
	}
	return text
}

// lost counts, for each node, the messages of the branch that moving there leaves behind.
func (p *treeList) lost(view *treeView) []int {
	behind, n := map[string]int{}, 0
	branch := p.session.Branch()
	for i := len(branch) - 1; i >= 0; i-- {
		behind[branch[i].ID] = n
		if branch[i].Message() != nil {
			n++
		}
	}
	lost := make([]int, len(view.nodes))
	for i, node := range view.nodes { // parents come first
		on := node.active
		switch _, kind := entryText(node.entry, false); {
		case on && kind == kindUser:
			lost[i] = behind[node.entry.ID] + 1
		case on:
			lost[i] = behind[node.entry.ID]
		case node.parent < 0:
			lost[i] = n
		default:
			lost[i] = lost[node.parent] // the branch leaves there, or further up
			if parent := view.nodes[node.parent]; parent.active {
				lost[i] = behind[parent.entry.ID]
			}
		}
	}
	return lost
}
