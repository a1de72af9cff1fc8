package session

import (
	"slices"
	"strconv"
)

// tree is the entries of a session: a list in the order of the file, in which each
// entry but the roots knows its parent. One path through it is the branch, which
// ends with the leaf.
type tree struct {
	entries  []*Entry
	byID     map[string]*Entry // by the id in memory
	byFileID map[string]*Entry // those whose id in the file was given before: the last of each
	leaf     *Entry
	branch   []*Entry // root to leaf; nil: to be built
	orphans  []*Entry // they name no parent, and do not say that they have none
}

func newTree() tree { return tree{byID: map[string]*Entry{}, byFileID: map[string]*Entry{}} }

// reserve makes room for about n entries, within reason, in a tree that is empty.
func (t *tree) reserve(n int) {
	n = min(n, 1<<16)
	t.byID = make(map[string]*Entry, n)
	t.entries = make([]*Entry, 0, n)
}

// add puts an entry with an id of its own at the end of the list. The leaf stays.
func (t *tree) add(e *Entry) {
	e.index = len(t.entries)
	t.entries = append(t.entries, e)
	t.byID[e.ID] = e
	if e.fileID != "" {
		t.byFileID[e.fileID] = e
	}
}

// addToBranch adds an entry whose parent is the leaf, and makes it the leaf.
func (t *tree) addToBranch(e *Entry) {
	path := t.path()
	t.add(e)
	t.leaf, t.branch = e, append(t.branch[:len(path)], e)
}

// removeLast undoes adding the last entry, which no other has for its parent.
func (t *tree) removeLast() {
	e := t.last()
	t.entries = t.entries[:len(t.entries)-1]
	delete(t.byID, e.ID)
	if t.byFileID[e.fileID] == e {
		delete(t.byFileID, e.fileID)
	}
}

// moveTo makes an entry the leaf; nil is the root.
func (t *tree) moveTo(e *Entry) { t.leaf, t.branch = e, nil }

// last is the last entry of the file, nil if there is none.
func (t *tree) last() *Entry {
	if len(t.entries) == 0 {
		return nil
	}
	return t.entries[len(t.entries)-1]
}

// path returns the entries from the root to the leaf.
func (t *tree) path() []*Entry {
	if t.branch == nil {
		t.branch = pathTo(t.leaf)
	}
	return clipped(t.branch)
}

// pathTo returns the entries from the root to e.
func pathTo(e *Entry) []*Entry {
	n := 0
	for p := e; p != nil; p = p.parent {
		n++
	}
	path := make([]*Entry, n)
	for ; e != nil; e = e.parent {
		n--
		path[n] = e
	}
	return path
}

// clipped makes a list fit to be returned: the caller can neither write into nor see
// entries that are appended later.
func clipped(es []*Entry) []*Entry { return es[:len(es):len(es)] }

// meant is the entry that an id in the file means at this point, nil for none: of
// those that share one it is the last.
func (t *tree) meant(id string) *Entry {
	if e := t.byFileID[id]; e != nil {
		return e
	}
	return t.byID[id]
}

// freeID is an id that no entry has yet: the given one with a number at its end.
func (t *tree) freeID(id string, number int) string {
	for id += "-" + strconv.Itoa(number); t.byID[id] != nil; {
		id += "-"
	}
	return id
}

// link gives parents to entries whose parent did not stand before them. A parentId
// that leads nowhere, or around in a circle, is replaced by the entry before it in the
// file.
func (t *tree) link(waiting []*Entry, p *problems) {
	circles := false // some entry hangs on a later one, so they are possible
	for _, e := range waiting {
		circles = circles || t.meant(e.ParentID) != nil
	}
	for _, e := range waiting {
		parent := t.meant(e.ParentID)
		switch {
		case parent == nil:
			p.add("line %d: parent %q is not in the file; the entry goes on from the one before it", e.line, e.ParentID)
			t.linkToEarlier(e, circles)
		case leadsTo(parent, e):
			p.add("line %d: parent %q leads around in a circle; the entry goes on from the one before it", e.line, e.ParentID)
			t.linkToEarlier(e, circles)
		default:
			e.setParent(parent)
		}
	}
}

// linkToEarlier links e to the nearest entry before it that does not hang on e.
func (t *tree) linkToEarlier(e *Entry, circles bool) {
	e.ParentID = ""
	for i := e.index - 1; i >= 0; i-- {
		if p := t.entries[i]; !circles || !leadsTo(p, e) {
			e.setParent(p)
			return
		}
	}
}

// leadsTo reports whether the way from p to the root passes e. Links made so
// far are free of circles.
func leadsTo(p, e *Entry) bool {
	for ; p != nil; p = p.parent {
		if p == e {
			return true
		}
	}
	return false
}

// unreached finds the entries that are hidden because the one that the conversation
// begins with lacks its parent. A file with several roots may be in order: a person who
// goes back to before the first prompt begins anew, and a parentId of null says so. An
// entry whose parentId is missing, misspelt or no text looks the same, and is a mistake
// that hides all entries before it. root is that entry, nil if all is in order.
func (t *tree) unreached() (root *Entry, hidden []*Entry) {
	if len(t.orphans) == 0 || t.leaf == nil {
		return nil, nil
	}
	root = t.leaf
	for root.parent != nil {
		root = root.parent
	}
	if root.index == 0 || !slices.Contains(t.orphans, root) {
		return nil, nil
	}
	below := map[*Entry]bool{root: true}
	for _, e := range t.entries {
		if !isBelow(e, below) {
			hidden = append(hidden, e)
		}
	}
	return root, hidden
}

// isBelow reports whether the way from e to its root passes one that is below
// already, and adds what it finds to below.
func isBelow(e *Entry, below map[*Entry]bool) bool {
	var way []*Entry
	found := false
	for ; e != nil; e = e.parent {
		known, seen := below[e]
		if found = known; seen {
			break
		}
		way = append(way, e)
	}
	for _, e := range way {
		below[e] = found
	}
	return found
}
