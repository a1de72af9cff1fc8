package command

import (
	"context"
	"fmt"

	"pi/agent"
	"pi/internal/printable"
	"pi/session"
)

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
