package mcp

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestServersBecomeThoseThatAreConfiguredByNow(t *testing.T) {
	of := func(kind SourceKind, name, command string) Entry {
		return Entry{Name: name, Command: command, Source: Source{Kind: kind, Path: "f", Line: 1}}
	}
	s := Open(Options{Entries: []Entry{of(FromUser, "same", "x"), of(FromUser, "other", "x"), of(FromProject, "gone", "x"), of(FromUser, "off", "x")}})
	defer s.Close()
	if err := s.Add(of(FromHook, "hooks", "x")); err != nil {
		t.Fatal(err)
	}
	if err := s.SetOn("off", false); err != nil {
		t.Fatal(err)
	}
	same, err := s.find("same")
	if err != nil {
		t.Fatal(err)
	}
	other, _ := s.find("other")
	moved := of(FromUser, "same", "x")
	moved.Source.Line = 7
	entries := []Entry{of(FromUser, "new", "x"), moved, of(FromUser, "other", "y"), of(FromUser, "off", "y"), of(FromUser, "hooks", "y")}

	a := s.Adopt(entries, "new")
	if !slices.Equal(a.Added, []string{"new"}) || len(a.Changed)+len(a.Removed)+len(a.Taken) > 0 {
		t.Errorf("of one: %+v", a)
	}
	a = s.Adopt(entries, "")
	if len(a.Added) > 0 || !slices.Equal(a.Changed, []string{"other", "off"}) || !slices.Equal(a.Removed, []string{"gone"}) || len(a.Taken) != 1 {
		t.Errorf("of all: %+v", a)
	}
	var names []string
	for _, st := range s.List() {
		names = append(names, st.Entry.Name+" "+st.Entry.Command+" "+string(st.State))
	}
	if want := []string{"new x idle", "same x idle", "other y idle", "off y off", "hooks x idle"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if is, _ := s.find("same"); is != same {
		t.Error("a server that is configured as before is another one")
	}
	if _, _, err := other.use(t.Context()); err == nil {
		t.Error("a server that is no one of the session any more can be used")
	}
	if a := s.Adopt(entries, ""); len(a.Added)+len(a.Changed)+len(a.Removed) > 0 {
		t.Errorf("nothing has changed: %+v", a)
	}
	late := entries[1]
	late.Secrets = func(context.Context) (env, headers map[string]string, err error) { return nil, nil, nil }
	broken := entries[2]
	broken.Problem = errors.New("X is not set")
	if a := s.Adopt([]Entry{late, broken}, ""); !slices.Equal(a.Changed, []string{"same", "other"}) {
		t.Errorf("%+v", a)
	}
}

func TestARunningServerThatIsConfiguredOtherwiseIsEnded(t *testing.T) {
	s := open(t, Options{Entries: []Entry{entry("good", "good")}})
	if _, _, _, err := s.Definitions(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	before, err := s.find("good")
	if err != nil {
		t.Fatal(err)
	}
	e := *before.entry
	e.Description = "in other words"
	s.Adopt([]Entry{e}, "")
	if before.conn != nil {
		t.Error("it runs on")
	}
	if _, _, _, err := s.Definitions(t.Context(), "good"); err != nil {
		t.Error(err)
	}
}
