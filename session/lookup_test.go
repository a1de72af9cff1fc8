package session

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestTheLastLabelOfAnEntryCounts(t *testing.T) {
	s := read(t, write(t, append(story("u1 a2 u3"),
		labelLine("u4", "1", "one"), labelLine("u5^1", "2", "two"), labelLine("u6", "1", "uno"), labelLine("u7^2", "2", ""))...))
	if got := s.Labels(); !sameNames(got, map[string]string{"1": "uno"}) {
		t.Errorf("labels %v", got)
	}
}

func TestChildrenAreInTheOrderOfTheFile(t *testing.T) {
	s := read(t, write(t, story("u1 a2 u3^1 a4^2 u5^1 u6^0")...))
	for id, want := range map[string]string{"": "1 6", "1": "2 3 5", "2": "4", "4": ""} {
		if got := idsOf(s.Children()[id]); got != want {
			t.Errorf("below %q: %q, want %q", id, got, want)
		}
	}
}

func TestCommonAncestorIsTheLastEntryOfBothPaths(t *testing.T) {
	s := read(t, write(t, story("u1 a2 u3^2 a4^3 u5^2 a6^5 u7^0")...))
	for _, c := range []struct{ a, b, want string }{
		{"4", "6", "2"}, {"6", "4", "2"}, {"4", "4", "4"}, {"2", "4", "2"}, {"4", "7", ""}, {"", "4", ""}, {"gone", "4", ""},
	} {
		if got := s.CommonAncestor(c.a, c.b); got != c.want {
			t.Errorf("of %q and %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func TestWhenASessionBegan(t *testing.T) {
	const first, later = "2026-01-02T03:04:05.000Z", "2026-02-03T04:05:06.000Z"
	for _, c := range []struct{ name, header, entry, want string }{
		{"no entry", first, "", first},
		{"a copy, whose entries are older", later, first, first},
		{"a prompt on another day", first, later, later},
		{"an entry without a time", first, "?", first},
		{"no time at all", "?", "?", ""},
	} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		lines := fmt.Sprintf(`{"type":"session","version":3,"id":"s","timestamp":%q,"cwd":"/p"}`+"\n", c.header)
		if c.entry != "" {
			lines += fmt.Sprintf(`{"type":"session_info","id":"00000001","parentId":null,"timestamp":%q,"name":"x"}`+"\n", c.entry)
		}
		if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Began(); got.IsZero() != (c.want == "") || c.want != "" && isoTime(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
