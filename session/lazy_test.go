package session

import (
	"fmt"
	"strings"
	"testing"
)

// decodedBodies counts the entries whose bodies somebody looked at. The session is
// of no use afterwards.
func decodedBodies(s *Session) (n int) {
	for _, e := range s.Entries() {
		looked := true
		e.once.Do(func() { looked = false })
		if looked {
			n++
		}
	}
	return n
}

// broken is a line whose head is whole and whose body is not.
func broken(word string) string {
	l := line(word)
	return l[:strings.LastIndex(l, `"content"`)] + `"content":}}`
}

func TestOpeningDecodesNoBody(t *testing.T) {
	for _, buffer := range []int{0, 100} {
		s := readWith(t, write(t, story("u1 a2 u3 a4 c5:3 u6 a7")...), buffer)
		s.Branch()
		s.Leaf()
		s.UnknownTypes()
		if n := decodedBodies(s); n != 0 {
			t.Errorf("%d bodies were decoded", n)
		}
	}
}

func TestTheContextDecodesWhatItHolds(t *testing.T) {
	for _, c := range []struct {
		name, words, context string
		decoded              int
	}{
		{"a branch", "u1 a2 u3^1 a4", "1 3 4", 3},
		{"what a compaction keeps, and itself", "u1 a2 u3 a4 c5:3 u6 a7", "summary5 3 4 6 7", 5},
		{"a compaction that keeps nothing", "u1 a2 u3 a4 c5:5 u6", "summary5 6", 2},
		{"the last compaction", "u1 c2:1 u3 u4 c5:4 u6", "summary5 4 6", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readWith(t, write(t, story(c.words)...), 100)
			if got := gist(s.Context()); got != c.context {
				t.Errorf("context %q, want %q", got, c.context)
			}
			if n := decodedBodies(s); n != c.decoded {
				t.Errorf("%d bodies were decoded, want %d", n, c.decoded)
			}
		})
	}
}

func TestDamageThatNobodyReadsIsNotReported(t *testing.T) {
	for _, c := range []struct {
		name     string
		lines    []string
		context  string
		problems int
	}{
		{"on another branch", []string{line("u1"), broken("u2"), line("u3^1")}, "1 3", 0},
		{"before a compaction", []string{line("u1"), broken("u2"), line("u3"), line("c4:3"), line("u5")}, "summary4 3 5", 0},
		{"on the branch", []string{line("u1"), broken("u2"), line("u3")}, "1 3", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readWith(t, write(t, append([]string{headerLine}, c.lines...)...), 100)
			if got := gist(s.Context()); got != c.context {
				t.Errorf("context %q, want %q", got, c.context)
			}
			if got := s.Problems(); len(got) != c.problems {
				t.Errorf("problems %q", got)
			}
		})
	}
}

func TestALargeSessionIsReadFromItsLastCompactionOn(t *testing.T) {
	lines := []string{headerLine}
	for i := range 2000 {
		lines = append(lines, line(fmt.Sprintf("u%d", i+1)))
	}
	lines = append(lines, line("c2001:1999"), line("u2002"))
	s := readWith(t, write(t, lines...), 4096)
	if got := gist(s.Context()); got != "summary2001 1999 2000 2002" {
		t.Errorf("context %q", got)
	}
	if n := decodedBodies(s); n != 4 {
		t.Errorf("%d bodies were decoded", n)
	}
}
