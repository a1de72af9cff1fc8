package command

import (
	"cmp"
	"fmt"
	"strings"

	"pi/internal/printable"
	"pi/session"
)

// The tree of a session as rows of text, for any terminal. A branch is at one
// indentation from its beginning to its end. Another branch that leaves it is indented,
// below the row where it leaves:
//
//	* 0a1b2c3d  user: first
//	* 1b2c3d4e  assistant: answer
//	  2c3d4e5f    - user: another way
//	  3d4e5f60      assistant: which was left
//	> 4e5f6071  user: this way
//
// The branch that is not indented is that of the leaf, and elsewhere the newest. Each
// branch that leaves the one of the leaf can be folded into the row of its first entry.

// treeNode is an entry that is shown.
type treeNode struct {
	entry  *session.Entry
	text   string
	parent int   // position among the nodes; -1: none
	kids   []int // in the order of the file
	below  int   // nodes under it
	active bool  // on the branch of the leaf
}

// treeRow is one line of the tree.
type treeRow struct {
	id     string
	text   string // the whole line
	folded int    // entries that are folded under it
	leaf   bool   // the conversation ends here
	node   int
	depth  int
	first  bool   // of a branch that leaves another
	branch string // the id of the first entry of the branch that the row, if it is not that entry, is on; "" if that leaves none
}

// treeView is what of a session's tree is shown.
type treeView struct {
	nodes []treeNode
	roots []int
	leaf  int  // the last node of the branch; -1: none
	start bool // the conversation is at the beginning: every branch leaves it
	names map[string]string
}

// newTreeView returns the tree of the entries that f shows: an entry whose parent is not
// shown hangs below the nearest ancestor that is. It takes time that grows with the number
// of entries, not their depth.
func newTreeView(s *session.Session, f treeFilter) *treeView {
	v := &treeView{leaf: -1, names: s.Labels()}
	branch := s.Branch()
	active := make(map[*session.Entry]bool, len(branch))
	for _, e := range branch {
		active[e] = true
	}
	children := s.Children()
	type step struct {
		e      *session.Entry
		parent int
	}
	var todo []step
	push := func(entries []*session.Entry, parent int) {
		for i := len(entries) - 1; i >= 0; i-- {
			todo = append(todo, step{entries[i], parent})
		}
	}
	push(children[""], -1)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		parent := at.parent
		if text, ok := f.shows(at.e, v.names[at.e.ID]); ok {
			parent = v.add(treeNode{entry: at.e, text: text, parent: at.parent, active: active[at.e]})
		}
		push(children[at.e.ID], parent)
	}
	v.start = v.leaf < 0 && f.search == ""
	for i := len(v.nodes) - 1; i >= 0; i-- {
		if p := v.nodes[i].parent; p >= 0 {
			v.nodes[p].below += v.nodes[i].below + 1
		}
	}
	return v
}

// add adds a node and returns its position. Nodes come parents first, so the last active
// one is where the conversation ends.
func (v *treeView) add(n treeNode) int {
	i := len(v.nodes)
	v.nodes = append(v.nodes, n)
	if n.parent >= 0 {
		v.nodes[n.parent].kids = append(v.nodes[n.parent].kids, i)
	} else {
		v.roots = append(v.roots, i)
	}
	if n.active {
		v.leaf = i
	}
	return i
}

// mainChild returns the node among siblings that is not indented below its parent: the one
// on the branch of the leaf, or elsewhere the newest. It is -1 if all are indented,
// because the conversation ends at the parent, or there are none.
func (v *treeView) mainChild(kids []int, parentActive bool) int {
	for _, k := range kids {
		if v.nodes[k].active {
			return k
		}
	}
	if parentActive || len(kids) == 0 {
		return -1
	}
	return kids[len(kids)-1]
}

// rows returns the tree as lines in the order in which they are shown. If unfolded is not
// nil, a branch that leaves another is folded into its first row, unless unfolded has the
// id of its first entry.
func (v *treeView) rows(unfolded map[string]bool) []treeRow {
	var rows, todo []treeRow
	push := func(kids []int, depth int, parentActive bool, branch string) {
		on := v.mainChild(kids, parentActive)
		if on >= 0 {
			todo = append(todo, treeRow{node: on, depth: depth, branch: branch})
		}
		for i := len(kids) - 1; i >= 0; i-- {
			if kids[i] != on {
				todo = append(todo, treeRow{node: kids[i], depth: depth + 1, first: true, branch: branch})
			}
		}
	}
	push(v.roots, 0, v.start, "")
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		n := &v.nodes[at.node]
		if at.first && n.below > 0 && unfolded != nil && !unfolded[n.entry.ID] {
			rows = append(rows, v.row(at, "+ ", n.below))
			continue
		}
		lead, branch := "", at.branch
		if at.first {
			lead, branch = "- ", n.entry.ID
		}
		rows = append(rows, v.row(at, lead, 0))
		push(n.kids, at.depth, n.active, branch)
	}
	return rows
}

// deepest is the most that a row is indented, also one of a deeper branch.
const deepest = 8

// mark says whether a node is on the branch of the leaf, or the leaf itself.
func (v *treeView) mark(node int) string {
	switch {
	case node == v.leaf:
		return ">"
	case v.nodes[node].active:
		return "*"
	}
	return " "
}

// row completes one line of the tree: a mark for the branch of the leaf, the id, lead at
// the indentation of its depth, the text and the label. folded is how many entries are
// hidden under it.
func (v *treeView) row(r treeRow, lead string, folded int) treeRow {
	n := &v.nodes[r.node]
	if r.depth > 0 {
		lead = strings.Repeat("    ", min(r.depth, deepest)-1) + "  " + cmp.Or(lead, "  ")
	}
	text := v.mark(r.node) + " " + n.entry.ID + "  " + lead + n.text
	if name := v.names[n.entry.ID]; name != "" {
		text += "  [" + printable.Cut(name, titleLength) + "]"
	}
	if folded > 0 {
		text += fmt.Sprintf("  (%d more)", folded)
	}
	r.id, r.text, r.folded, r.leaf = n.entry.ID, text, folded, r.node == v.leaf
	return r
}
