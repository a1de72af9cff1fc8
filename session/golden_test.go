package session

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// exchanged returns the sessions in testdata/context. Beside each stands what pi,
// whose files these are in form, makes of it.
func exchanged(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "context", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no sessions: %v", err)
	}
	return paths
}

type shownSession struct {
	Model         any
	ThinkingLevel any `json:"thinking_level"`
	Name          any
	Entries       int
	Context       []map[string]any
}

func parseShown(t *testing.T, text []byte) shownSession {
	t.Helper()
	var s shownSession
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	// System messages are pi's own prompt, and never sent from here.
	s.Context = slices.DeleteFunc(s.Context, func(m map[string]any) bool { return m["role"] == "system" })
	if s.ThinkingLevel == nil {
		s.ThinkingLevel = "off"
	}
	return s
}

func TestTheContextOfAFileIsThatOfPi(t *testing.T) {
	for _, path := range exchanged(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		text, err := os.ReadFile(strings.TrimSuffix(path, "l"))
		if err != nil {
			t.Fatal(err)
		}
		want := parseShown(t, text)
		for _, buffer := range []int{0, 100} {
			t.Run(name, func(t *testing.T) {
				s := readWith(t, path, buffer)
				defer s.closeBodies()
				if p := s.Problems(); p != nil {
					t.Errorf("problems %q", p)
				}
				shown, err := s.Show()
				if err != nil {
					t.Fatal(err)
				}
				if got := parseShown(t, shown); !reflect.DeepEqual(got, want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			})
		}
	}
}

func TestLinesAreKeptByteForByte(t *testing.T) {
	for _, path := range exchanged(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := read(t, path)
		if s.Header().Version < Version {
			continue // what is in memory has the form of the present version
		}
		checkRaw(t, s, text)
		s.Context()
		checkRaw(t, s, text)
		dir := t.TempDir()
		c, err := s.CopyPath(s.Leaf(), Options{Dir: dir, Cwd: "/elsewhere"})
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range s.Branch() {
			if got := c.Branch()[i].Raw(); !bytes.Equal(got, e.Raw()) {
				t.Errorf("%s: the copy of line %d is\n%s\nnot\n%s", path, e.line, got, e.Raw())
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for _, e := range s.Branch() {
			if !strings.Contains(contents(t, c.File()), "\n"+string(e.Raw())+"\n") {
				t.Errorf("%s: line %d is not in the file of the copy", path, e.line)
			}
		}
	}
}

// checkRaw holds that each entry still has the line it came from.
func checkRaw(t *testing.T, s *Session, text []byte) {
	t.Helper()
	lines := bytes.Split(text, []byte("\n"))
	for _, e := range s.Entries() {
		if want := bytes.TrimRight(lines[e.line-1], "\r"); !bytes.Equal(e.Raw(), want) {
			t.Errorf("line %d is\n%s\nnot\n%s", e.line, e.Raw(), want)
		}
	}
}
