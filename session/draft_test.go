package session

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/session/message"
)

func TestDraftsAreAppendedInOrderEachBehindTheOneBefore(t *testing.T) {
	s := New(Options{Dir: t.TempDir(), Cwd: "/p"})
	defer s.Close()
	first, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hi")}})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := s.AppendAll([]Draft{
		{TypeCustom, Custom{CustomType: "x", Data: json.RawMessage(`1`)}},
		{"own_type", map[string]any{"n": 2, "id": "mine"}},
		{TypeContextEdit, ContextEdit{TargetID: first.ID}},
	})
	if err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	parent := first.ID
	for _, e := range entries {
		if e.ParentID != parent || e.ID == "mine" {
			t.Errorf("%s %s hangs on %s, want %s", e.Type, e.ID, e.ParentID, parent)
		}
		parent = e.ID
	}
	if s.Leaf() != parent || len(s.Context()) != 0 {
		t.Errorf("leaf %s, %d messages", s.Leaf(), len(s.Context()))
	}
	again, err := Read(s.File())
	if err != nil || len(again.Entries()) != 4 || len(again.Context()) != 0 {
		t.Errorf("read again: %v", err)
	}
}

func TestDraftsAreAppendedAllOrNone(t *testing.T) {
	good := Draft{TypeCustom, Custom{CustomType: "x"}}
	for name, bad := range map[string]Draft{
		"no type": {"", nil}, "the header": {TypeSession, nil}, "no object": {"own", 7},
		"no JSON": {TypeCustom, Custom{Data: json.RawMessage(`{`)}}, "no JSON at all": {"own", func() {}},
	} {
		s := New(Options{Dir: t.TempDir(), Cwd: "/p"})
		if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hi")}}); err != nil {
			t.Fatal(err)
		}
		if entries, err := s.AppendAll([]Draft{good, bad, good}); err == nil || entries != nil {
			t.Errorf("%s: %v, %v", name, entries, err)
		}
		file, err := os.ReadFile(s.File())
		if err != nil || strings.Count(string(file), "\n") != 2 || len(s.Entries()) != 1 {
			t.Errorf("%s: %v, %d entries, file\n%s", name, err, len(s.Entries()), file)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDraftsAreOneWrite(t *testing.T) {
	s := open(t, write(t, story("u1")...), Options{})
	writes := 0
	s.journal.store.testOnlyWrite = func(f *os.File, b []byte) (int, error) {
		writes++
		return f.Write(b)
	}
	if _, err := s.AppendAll([]Draft{{"own", nil}, {"own", nil}, {"own", nil}}); err != nil || writes != 1 {
		t.Errorf("%v, %d writes", err, writes)
	}
	if got := len(read(t, s.File()).Entries()); got != 4 {
		t.Errorf("%d entries in the file", got)
	}
}

func TestDraftsThatCannotBeSavedAreInMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(Options{Dir: filepath.Join(file, "sub"), Cwd: "/p"})
	_, _ = s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("hi")}})
	var unsaved *SaveError
	entries, err := s.AppendAll([]Draft{{TypeCustom, Custom{CustomType: "x"}}, {TypeCustom, Custom{CustomType: "y"}}})
	if !errors.As(err, &unsaved) || len(entries) != 2 || len(s.Branch()) != 3 {
		t.Errorf("%v, %d entries", err, len(entries))
	}
	again, err := s.AppendAll(nil)
	if err != nil || len(again) != 0 {
		t.Error(again, err)
	}
}

func TestDraftsForAReadOnlySessionAreRefused(t *testing.T) {
	written := New(Options{Dir: t.TempDir(), Cwd: "/p"})
	if err := written.Flush(); err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	s, err := Read(written.File())
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := s.AppendAll([]Draft{{TypeCustom, Custom{CustomType: "x"}}}); !errors.Is(err, ErrReadOnly) || len(entries) != 0 {
		t.Error(entries, err)
	}
}
