package session

import (
	"strings"
	"testing"
)

// linked makes a tree of entries written "id" or "id<parent", in the order of a file.
func linked(t *testing.T, text string) (tr tree, p problems) {
	t.Helper()
	tr = newTree()
	var waiting []*Entry
	for i, f := range strings.Fields(text) {
		id, parent, _ := strings.Cut(f, "<")
		e := &Entry{ID: id, ParentID: parent, line: i + 2}
		if tr.byID[id] != nil {
			e.ID, e.fileID = tr.freeID(id, e.line), id
		}
		e.setParent(tr.entryByFileID(parent))
		tr.add(e)
		if parent != "" && e.parent == nil {
			waiting = append(waiting, e)
		}
	}
	tr.link(waiting, &p)
	tr.moveTo(tr.last())
	return tr, p
}

func idsOf(entries []*Entry) string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

func TestATreeLinksWhatItIsGiven(t *testing.T) {
	for _, c := range []struct{ entries, branch, problem string }{
		{"", "", ""},
		{"a b<a c<b", "a b c", ""},
		{"a b<a c<a", "a c", ""},
		{"a c<b b<a d<c", "a b c d", ""},
		{"a b<x c<b", "a b c", `parent "x" is not in the file`},
		{"a b<d c<b d<c", "a b c d", `parent "d" leads around in a circle`},
		{"a b<b", "a b", `parent "b" leads around in a circle`},
		{"a b<a a<b c<a", "a b a-4 c", ""},
	} {
		tr, p := linked(t, c.entries)
		if got := idsOf(tr.path()); got != c.branch {
			t.Errorf("%s: branch %q, want %q", c.entries, got, c.branch)
		}
		if got := strings.Join(p.take(), "; "); !strings.Contains(got, c.problem) || (c.problem == "") != (got == "") {
			t.Errorf("%s: problems %q, want %q", c.entries, got, c.problem)
		}
	}
}

func TestABranchThatWasReturnedNeverChanges(t *testing.T) {
	tr, _ := linked(t, "a b<a")
	before := tr.path()
	for _, id := range []string{"c", "d"} {
		e := &Entry{ID: id}
		e.setParent(tr.leaf)
		tr.addToBranch(e)
	}
	tr.moveTo(tr.byID["a"])
	e := &Entry{ID: "e"}
	e.setParent(tr.leaf)
	tr.addToBranch(e)
	if idsOf(before) != "a b" || idsOf(tr.path()) != "a e" || idsOf(tr.entries) != "a b c d e" || cap(before) != len(before) {
		t.Errorf("before %s, now %s of %s", idsOf(before), idsOf(tr.path()), idsOf(tr.entries))
	}
	tr.moveTo(nil)
	if len(tr.path()) != 0 {
		t.Errorf("at the root: %s", idsOf(tr.path()))
	}
	tr.removeLast()
	if tr.byID["e"] != nil || tr.last().ID != "d" {
		t.Errorf("%s is the last", tr.last().ID)
	}
}
