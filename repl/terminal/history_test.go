package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestHistoryKeepsEntriesAsTheyWereTyped(t *testing.T) {
	h := &History{path: filepath.Join(t.TempDir(), "dir", "history")}
	for _, entry := range []string{"one", "two\nlines\t\"quoted\"", "two\nlines\t\"quoted\"", "", "日本", "one"} {
		if err := h.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	got, err := (&History{path: h.path}).Load()
	if want := []string{"one", "two\nlines\t\"quoted\"", "日本", "one"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("loaded %q, %v; want %q", got, err, want)
	}
}

func TestHistorySkipsLinesThatAreNoEntries(t *testing.T) {
	got := parseHistory([]byte("\"a\"\nplain\n\n{}\n\"b\"\n\"cut"))
	if want := []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("parsed %q, want %q", got, want)
	}
}

func TestHistoryThatHasGrownIsCutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range 2 * historyKept {
		fmt.Fprintf(&b, "\"entry %d\"\n", i)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (NewHistory(path)).Load(); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(path)
	if n := len(parseHistory(kept)); err != nil || n != historyKept || !strings.HasPrefix(string(kept), "\"entry 1000\"\n") {
		t.Errorf("%d entries left from %.20q on, %v", n, kept, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestNoHistoryFileIsNoError(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "none")} {
		if got, err := (NewHistory(path)).Load(); err != nil || got != nil {
			t.Errorf("%q: %q, %v", path, got, err)
		}
	}
}

func TestAHistoryThatCannotBeWrittenIsToldOfOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h := NewHistory(filepath.Join(file, "history"))
	if err := h.Add("one"); err == nil {
		t.Error("a file in a file was written")
	}
	if err := h.Add("two"); err != nil {
		t.Errorf("told again: %v", err)
	}
}
