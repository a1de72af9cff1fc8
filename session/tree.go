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

// find returns the entry with an id, or nil. The map may have entries that are not in the
// list yet, see [Playback].
func (t *tree) find(id string) *Entry {
	if e := t.byID[id]; e != nil && e.index < len(t.entries) {
		return e
	}
	return nil
}

// removeLast removes the last entry of the list, which must not be the parent of
// another.
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

// entryByFileID returns the entry that an id in the file refers to, nil if there is none. Where
// several lines have the same id, it is the last one read so far.
func (t *tree) entryByFileID(id string) *Entry {
	if e := t.byFileID[id]; e != nil {
		return e
	}
	return t.byID[id]
}

// freeID returns an id that no entry has: id, a dash and the number, with more dashes at
// the end if that is taken too.
func (t *tree) freeID(id string, number int) string {
	for id += "-" + strconv.Itoa(number); t.byID[id] != nil; {
		id += "-"
	}
	return id
}

// link gives their parent to the entries of waiting, whose parentId named none of the
// entries before them. Where it leads nowhere, or around in a circle, the entry before
// it in the file becomes the parent, and a problem is added.
func (t *tree) link(waiting []*Entry, p *problems) {
	circles := false // some entry hangs on a later one, so they are possible
	for _, e := range waiting {
		circles = circles || t.entryByFileID(e.ParentID) != nil
	}
	for _, e := range waiting {
		parent := t.entryByFileID(e.ParentID)
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

// linkToEarlier makes the nearest entry before e that is not a descendant of e its
// parent; without one e becomes a root. circles is whether there may be such descendants
// at all: finding out is slow.
func (t *tree) linkToEarlier(e *Entry, circles bool) {
	e.ParentID = ""
	for i := e.index - 1; i >= 0; i-- {
		if p := t.entries[i]; !circles || !leadsTo(p, e) {
			e.setParent(p)
			return
		}
	}
}

// leadsTo reports whether e is p or an ancestor of p. It needs links that are free of
// circles.
func leadsTo(p, e *Entry) bool {
	for ; p != nil; p = p.parent {
		if p == e {
			return true
		}
	}
	return false
}

// unreached returns the root of the branch and the entries that cannot be reached from
// it, if that root lost its parent by mistake: its parentId is missing, misspelt or no
// text. Otherwise it returns nil: several roots are no mistake by themselves, for a
// user may go back to before the first prompt, which writes a parentId of null.
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

// isBelow reports whether e is, or descends from, an entry that below marks as true. It
// adds the answer for e and for all ancestors that it looked at to below.
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
