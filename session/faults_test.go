package session

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// full makes the fault tests run in full: go test ./session -run Fault -faults
var full = flag.Bool("faults", false, "run the fault tests in full")

// times is how often a fault is provoked, or how much of it.
func times(few, many int) int {
	switch {
	case *full:
		return many
	case testing.Short():
		return max(few/5, 1)
	}
	return few
}

func TestMain(m *testing.M) {
	if role := os.Getenv("SESSION_TEST_CHILD"); role != "" {
		os.Exit(child(role))
	}
	os.Exit(m.Run())
}

// treeOf is all that a session says: which entry hangs on which, and what they
// contain.
func treeOf(s *Session) string {
	var b strings.Builder
	for _, e := range s.Entries() {
		fmt.Fprintf(&b, "%s<%s %s\n", e.ID, e.ParentID, e.Type)
	}
	fmt.Fprintf(&b, "leaf %s\ncontext %s", s.Leaf(), gist(s.Context()))
	return b.String()
}

// goesOn opens a session as the next process would: everything is there, it
// can be appended to, and then it is the same with one entry more. What was in
// the file is still there, byte for byte.
func goesOn(t testing.TB, path string) {
	t.Helper()
	before := contents(t, path)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatalf("it does not open again: %v", err)
	}
	defer s.Close()
	anew := s.Header().Version < 2 // in a new file, beside a backup
	if _, err := s.AppendMessage(user("after")); err != nil {
		t.Fatalf("it cannot be appended to: %v", err)
	}
	s.Problems()
	if again := s.Problems(); again != nil {
		t.Errorf("reported twice: %q", again)
	}
	if !anew && !strings.HasPrefix(contents(t, path), before) {
		t.Error("what was in the file has changed")
	}
	if was, is := treeOf(s), treeOf(read(t, path)); was != is {
		t.Errorf("another tree when it is read again:\n%s\nnot\n%s", is, was)
	}
}
