package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pi/internal/printable"
	"pi/session"
	"pi/session/message"
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

// treeFilter says which entries a tree shows: one of the words of treeFilters,
// "" being the first of them, or those with a text in them.
type treeFilter struct{ word, search string }

// treeFilters are the words, and what they show.
var treeFilters = [...][2]string{
	{"default", "what was said and done, without the results of tools"},
	{"no-tools", "also without the tools that were called"},
	{"user", "only what you sent"},
	{"labeled", "only what has a label"},
	{"all", "every entry of the session"},
}

// newTreeFilter parses what a user wrote behind /tree: the name of a filter, nothing for
// the default one, or else a text to search for.
func newTreeFilter(text string) treeFilter {
	if text == "" {
		return treeFilter{word: "default"}
	}
	for _, f := range treeFilters {
		if f[0] == text {
			return treeFilter{word: text}
		}
	}
	return treeFilter{search: strings.ToLower(text)}
}

// next is the filter behind this one; behind a text to search for comes the first.
func (f treeFilter) next() treeFilter {
	i := slices.IndexFunc(treeFilters[:], func(x [2]string) bool { return x[0] == f.word })
	return treeFilter{word: treeFilters[(i+1)%len(treeFilters)][0]}
}

// meaning says what the filter shows.
func (f treeFilter) meaning() string {
	for _, x := range treeFilters {
		if x[0] == f.word {
			return x[1]
		}
	}
	return fmt.Sprintf("what has %q in it", f.search)
}

// shows returns the line of an entry, and whether the filter shows it. label is the label
// of the entry, "" if it has none.
func (f treeFilter) shows(e *session.Entry, label string) (string, bool) {
	if f.search != "" {
		if e.Type == session.TypeLabel { // it is shown with the entry that it names
			return "", false
		}
		text, _ := entryText(e, true)
		all := label + "\n" + text
		if m := e.Message(); m != nil {
			all += "\n" + m.Text() + m.Summary + m.Command
		}
		return text, strings.Contains(strings.ToLower(all), f.search)
	}
	text, kind := entryText(e, f.word != "no-tools")
	switch f.word {
	case "all":
		return text, true
	case "labeled":
		return text, label != ""
	case "user":
		return text, kind == kindUser
	case "no-tools":
		return text, kind != kindOther && kind != kindCalls || label != ""
	}
	return text, kind != kindOther || label != ""
}

type entryKind uint8

const (
	kindOther entryKind = iota // results of tools, and what is no part of the talk
	kindUser
	kindSaid
	kindCalls // an answer that only calls tools
)

// entryText returns an entry as one line, and of which kind it is for the filters. calls
// says whether an answer is shown with its tool calls.
func entryText(e *session.Entry, calls bool) (string, entryKind) {
	m := e.Message()
	if m == nil {
		return otherText(e), kindOther
	}
	switch m.Role {
	case message.RoleUser:
		text := firstLine(m.Typed())
		if n := len(m.Content); text == "" && n > 0 {
			text = fmt.Sprintf("(%d attachments)", n)
		}
		return "user: " + text, kindUser
	case message.RoleAssistant:
		return answerText(m, calls)
	case message.RoleToolResult:
		if m.IsError {
			return "failed " + m.ToolName + ": " + firstLine(m.Text()), kindOther
		}
		return "result of " + m.ToolName + ": " + firstLine(m.Text()), kindOther
	case message.RoleBashExecution:
		return "command: " + firstLine(m.Command), kindSaid
	case message.RoleCustom:
		if !m.Display {
			return m.CustomType + ": " + firstLine(m.Text()), kindOther
		}
		return m.CustomType + ": " + firstLine(m.Text()), kindSaid
	case message.RoleCompactionSummary:
		return "compaction: " + summaryLine(m.Summary), kindSaid
	case message.RoleBranchSummary:
		return "branch summary: " + summaryLine(m.Summary), kindSaid
	}
	return string(m.Role) + ": " + firstLine(m.Text()), kindOther
}

// answerText is entryText for an answer of the model. One that only calls tools is of a
// kind of its own.
func answerText(m *message.Message, calls bool) (string, entryKind) {
	text, kind := firstLine(m.Text()), kindSaid
	var called []string
	for _, c := range m.ToolCalls() {
		var about struct{ Path, Command, Pattern, Query, URL string } // the arguments that say what a call is about
		_ = json.Unmarshal(c.Arguments, &about)                       // those that are something else tell nothing
		what := cmp.Or(about.Command, about.Path, about.Pattern, about.Query, about.URL)
		called = append(called, strings.TrimSpace(c.Name+" "+printable.Cut(firstLine(what), titleLength/2)))
	}
	if text == "" && len(called) > 0 {
		kind = kindCalls
	}
	if calls && len(called) > 0 {
		text = strings.TrimLeft(text+" · "+printable.Cut(strings.Join(called, ", "), titleLength), " ·")
	}
	if m.StopReason == message.StopError || m.StopReason == message.StopAborted {
		text = strings.TrimLeft(text+" ("+string(m.StopReason)+")", " ")
	}
	return "assistant: " + text, kind
}

// otherText returns an entry that is no message as one line: its type and the most telling
// of its values.
func otherText(e *session.Entry) string {
	if name, ok := e.OnGitBranch(); ok {
		return "git branch: " + firstLine(name)
	}
	var about struct {
		CustomType, ModelID, ThinkingLevel, Name, Label, TargetID, Kind string
	}
	_ = json.Unmarshal(e.Raw(), &about) // an entry that nobody can read has its type
	text := cmp.Or(about.CustomType, about.ModelID, about.ThinkingLevel, about.Name, about.Label, about.Kind, about.TargetID)
	return strings.TrimRight(firstLine(strings.ReplaceAll(e.Type, "_", " ")+": "+text), ": ")
}

// firstLine returns the first line of a text that is not empty, cut to titleLength.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return printable.Cut(strings.TrimSpace(line), titleLength)
}

// summaryLine returns the first line of a summary that is neither empty nor a heading; if
// there is none, simply its first line.
func summaryLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return printable.Cut(line, titleLength)
		}
	}
	return firstLine(text)
}
