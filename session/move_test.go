package session

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestTheEntryOfAMoveHangsOnTheNewPosition(t *testing.T) {
	for to, want := range map[string]string{"2": "1 2 next", "": "next"} {
		path := write(t, story("u1 a2 u3")...)
		s := open(t, path, Options{})
		e, err := s.MoveTo(to, Draft{TypeCustom, Custom{CustomType: LeafMove, Data: json.RawMessage(`{"undo":1}`)}})
		if err != nil || e.ParentID != to || s.Leaf() != e.ID {
			t.Fatalf("to %q: %+v, %v", to, e, err)
		}
		if again := read(t, path); again.Leaf() != e.ID || again.Entry(e.ID).ParentID != to {
			t.Errorf("to %q: the leaf is %s after reading again", to, again.Leaf())
		}
		say(t, s, "next")
		if got := gist(read(t, path).Context()); got != want {
			t.Errorf("to %q: context %q, want %q", to, got, want)
		}
	}
}

func TestAMoveCanBeRecordedByTheSummaryOfWhatIsLeft(t *testing.T) {
	path := write(t, story("u1 a2 u3")...)
	s := open(t, path, Options{})
	e, err := s.MoveTo("1", Draft{TypeBranchSummary, BranchSummary{FromID: "3", Summary: "left"}})
	if err != nil || e.Type != TypeBranchSummary || e.ParentID != "1" {
		t.Fatal(e, err)
	}
	if got := gist(read(t, path).Context()); got != "1 left" {
		t.Errorf("context %q", got)
	}
}

func TestAMoveThatCannotBeChangesNothing(t *testing.T) {
	path := write(t, story("u1 a2")...)
	s := open(t, path, Options{})
	before := contents(t, path)
	for name, move := range map[string]func() (*Entry, error){
		"no such entry": func() (*Entry, error) { return moveLeaf(s, "9") },
		"no type":       func() (*Entry, error) { return s.MoveTo("1", Draft{}) },
		"no object":     func() (*Entry, error) { return s.MoveTo("1", Draft{TypeCustom, 1}) },
	} {
		if e, err := move(); err == nil || e != nil || s.Leaf() != "2" || contents(t, path) != before {
			t.Errorf("%s: %v, %v, leaf %s", name, e, err, s.Leaf())
		}
	}
	if _, err := moveLeaf(read(t, path), "1"); !errors.Is(err, ErrReadOnly) {
		t.Errorf("of a session for reading: %v", err)
	}
}

func TestACompactionThatKeepsNothingNamesItself(t *testing.T) {
	path := write(t, story("u1 a2")...)
	s := open(t, path, Options{})
	one, err := s.Append(TypeCompaction, Compaction{Summary: "first"})
	if err != nil {
		t.Fatal(err)
	}
	several, err := s.AppendAll([]Draft{
		{TypeCompaction, Compaction{Summary: "second"}},
		{TypeCompaction, map[string]any{"summary": "third"}},
		{TypeCompaction, Compaction{Summary: "fourth", FirstKeptEntryID: "2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range []*Entry{one, several[0], several[1]} {
		if c, err := Body[Compaction](e); err != nil || c.FirstKeptEntryID != e.ID {
			t.Errorf("compaction %d: %s, %v", i, e.Raw(), err)
		}
	}
	if c, err := Body[Compaction](several[2]); err != nil || c.FirstKeptEntryID != "2" {
		t.Errorf("one that keeps something: %s, %v", several[2].Raw(), err)
	}
	if strings.Contains(contents(t, path), `"firstKeptEntryId":""`) {
		t.Errorf("the file has an empty id:\n%s", contents(t, path))
	}
}
