package session

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestEntriesAboutModesAreToldFromOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	head := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/p"}` + "\n"
	const rest = `,"parentId":null,"timestamp":"2026-01-02T03:04:05.000Z"`
	lines := []struct {
		fields string
		is     bool
	}{
		{`"type":"custom","customType":"pi.mode","data":{"mode":"plan"}` + rest, true},
		{`"type":"custom","customType":"mine","data":"pi.mode"` + rest, false},
		{`"type":"custom","customType":"pi.model"` + rest, false},
		{`"type":"mine","customType":"pi.mode"` + rest, false},
		{`"customType":"pi.mode"` + rest + `,"type":"custom"`, true},
	}
	text := head
	for i, l := range lines {
		text += fmt.Sprintf("{%s,\"id\":\"%08d\"}\n", l.fields, i)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{Cwd: "/p"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries := s.Entries()
	for i, l := range lines {
		if got := entries[i].IsModeChange(); got != l.is {
			t.Errorf("%s: %v", l.fields, got)
		}
		if got := entries[i].Uncached().IsModeChange(); got != l.is {
			t.Errorf("a copy of %s: %v", l.fields, got)
		}
	}
	for custom, want := range map[string]bool{ModeChange: true, LeafMove: false} {
		e, err := s.Append(TypeCustom, Custom{CustomType: custom})
		if err != nil || e.IsModeChange() != want {
			t.Errorf("an appended %s: %v, %v", custom, e.IsModeChange(), err)
		}
	}
}
