package session

import (
	"encoding/json"
	"testing"
)

func TestTheBranchOfGitIsTheLastOneOnTheBranch(t *testing.T) {
	s := New(Options{})
	on := func(data string) string {
		e, err := s.Append(TypeCustom, Custom{CustomType: GitBranch, Data: json.RawMessage(data)})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	want := func(name string) {
		t.Helper()
		if got := s.GitBranch(); got != name {
			t.Errorf("the branch of git is %q, want %q", got, name)
		}
	}
	want("")
	end := s.EndOf(s.Leaf())
	first := on(`{"name":"one"}`)
	want("one")
	on(`{"name":"two"}`)
	want("two")
	on(`"not a record"`)
	want("two")
	if got := s.EndOf(s.Leaf()); got != end {
		t.Errorf("the conversation ends with %q, not %q", got, end)
	}
	if _, err := s.MoveTo(first, Draft{Type: TypeCustom, Body: Custom{CustomType: LeafMove}}); err != nil {
		t.Fatal(err)
	}
	want("one")
}

func TestTheBranchOfGitIsRecordedWhereItIsAnother(t *testing.T) {
	branch := "trunk"
	s := New(Options{GitBranch: func() string { return branch }})
	for _, c := range []struct {
		on      string
		entries int
	}{{"", 0}, {"trunk", 1}, {"trunk", 1}, {"", 1}, {"topic", 2}, {"trunk", 3}} {
		branch = c.on
		if err := s.RecordGitBranch(); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Entries()); n != c.entries {
			t.Errorf("on %q: %d entries, want %d", c.on, n, c.entries)
		}
	}
	if err := New(Options{}).RecordGitBranch(); err != nil {
		t.Error(err)
	}
}
