package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/session/rawjson"
)

// linked makes a tree of entries written "id" or "id<parent", in the order of a file.
func linked(t *testing.T, text string) (tr tree, p problems) {
	t.Helper()
	tr = newTree()
	var waiting []*Entry
	for i, f := range strings.Fields(text) {
		id, parent, _ := strings.Cut(f, "<")
		e := &Entry{ID: id, ParentID: parent, line: i + 2}
		if tr.byID[id] != nil {
			e.ID, e.fileID = tr.freeID(id, e.line), id
		}
		e.setParent(tr.entryByFileID(parent))
		tr.add(e)
		if parent != "" && e.parent == nil {
			waiting = append(waiting, e)
		}
	}
	tr.link(waiting, &p)
	tr.moveTo(tr.last())
	return tr, p
}

func idsOf(entries []*Entry) string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}

func TestATreeLinksWhatItIsGiven(t *testing.T) {
	for _, c := range []struct{ entries, branch, problem string }{
		{"", "", ""},
		{"a b<a c<b", "a b c", ""},
		{"a b<a c<a", "a c", ""},
		{"a c<b b<a d<c", "a b c d", ""},
		{"a b<x c<b", "a b c", `parent "x" is not in the file`},
		{"a b<d c<b d<c", "a b c d", `parent "d" leads around in a circle`},
		{"a b<b", "a b", `parent "b" leads around in a circle`},
		{"a b<a a<b c<a", "a b a-4 c", ""},
	} {
		tr, p := linked(t, c.entries)
		if got := idsOf(tr.path()); got != c.branch {
			t.Errorf("%s: branch %q, want %q", c.entries, got, c.branch)
		}
		if got := strings.Join(p.take(), "; "); !strings.Contains(got, c.problem) || (c.problem == "") != (got == "") {
			t.Errorf("%s: problems %q, want %q", c.entries, got, c.problem)
		}
	}
}

func TestABranchThatWasReturnedNeverChanges(t *testing.T) {
	tr, _ := linked(t, "a b<a")
	before := tr.path()
	for _, id := range []string{"c", "d"} {
		e := &Entry{ID: id}
		e.setParent(tr.leaf)
		tr.addToBranch(e)
	}
	tr.moveTo(tr.byID["a"])
	e := &Entry{ID: "e"}
	e.setParent(tr.leaf)
	tr.addToBranch(e)
	if idsOf(before) != "a b" || idsOf(tr.path()) != "a e" || idsOf(tr.entries) != "a b c d e" || cap(before) != len(before) {
		t.Errorf("before %s, now %s of %s", idsOf(before), idsOf(tr.path()), idsOf(tr.entries))
	}
	tr.moveTo(nil)
	if len(tr.path()) != 0 {
		t.Errorf("at the root: %s", idsOf(tr.path()))
	}
	tr.removeLast()
	if tr.byID["e"] != nil || tr.last().ID != "d" {
		t.Errorf("%s is the last", tr.last().ID)
	}
}

func copyPath(t testing.TB, s *Session, leaf string) *Session {
	t.Helper()
	c, err := s.CopyPath(leaf, Options{Dir: t.TempDir(), Cwd: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func labelLine(word, target, name string) string {
	l := strings.Replace(line(word), `"type":"message"`, `"type":"label"`, 1)
	l, _, _ = strings.Cut(l, `,"message"`)
	if name == "" {
		return l + `,"targetId":"` + target + `"}`
	}
	return l + `,"targetId":"` + target + `","label":"` + name + `"}`
}

func TestACopyHasThePathByteForByte(t *testing.T) {
	odd := `{"id":"3","future":{"a":[1,{}]},"type":"x_y", "parentId":"2","timestamp":"","n":12345678901234567890}`
	lines := append(story("u1 a2"), odd)
	lines = append(lines, line("a4^3"), line("u5^2"), line("a6^5"))
	s := read(t, write(t, lines...))
	for leaf, want := range map[string][]int{"4": {1, 2, 3, 4}, "6": {1, 2, 5, 6}, "3": {1, 2, 3}, "1": {1}} {
		c := copyPath(t, s, leaf)
		h := c.Header()
		var expect []string
		for _, i := range want {
			expect = append(expect, lines[i])
		}
		if got := strings.Split(strings.TrimSpace(contents(t, c.File())), "\n"); !slices.Equal(got[1:], expect) {
			t.Errorf("leaf %s:\n%s", leaf, strings.Join(got, "\n"))
		}
		if h.ParentSession != s.File() || h.ID == s.ID() || h.Version != Version || c.Leaf() != leaf {
			t.Errorf("leaf %s: header %+v, leaf %s", leaf, h, c.Leaf())
		}
		if info, err := os.Stat(c.File()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("leaf %s: %v, %v", leaf, info.Mode(), err)
		}
	}
}

func TestACopyIsGoneOnWith(t *testing.T) {
	s := read(t, write(t, story("u1 a2 u3 a4")...))
	c := copyPath(t, s, "2")
	say(t, c, "next")
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := gist(read(t, c.File()).Context()); got != "1 2 next" {
		t.Errorf("context %q", got)
	}
	if got := gist(s.Context()); got != "1 2 3 4" {
		t.Errorf("the source has %q", got)
	}
}

func TestACopyIsLockedFromTheStart(t *testing.T) {
	c := copyPath(t, read(t, write(t, story("u1 a2")...)), "2")
	var busy *BusyError
	if _, err := Open(c.File(), Options{}); !errors.As(err, &busy) {
		t.Errorf("a second one opens it: %v", err)
	}
}

func TestAnEmptyCopyAppearsWithTheFirstPrompt(t *testing.T) {
	s := read(t, write(t, story("u1 a2")...))
	c := copyPath(t, s, "")
	if _, err := os.Stat(c.File()); !os.IsNotExist(err) || len(c.Entries()) != 0 {
		t.Fatalf("it is there: %v, %d entries", err, len(c.Entries()))
	}
	say(t, c, "first")
	r := read(t, c.File())
	if r.Header().ParentSession != s.File() || gist(r.Context()) != "first" {
		t.Errorf("%+v %q", r.Header(), gist(r.Context()))
	}
}

func TestLabelsTravelWithACopy(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  map[string]string // of the copy of the path to 4
		added int               // entries behind the path
	}{
		{"on the path", append(story("u1 a2"), labelLine("u3", "1", "one"), line("u4")), map[string]string{"1": "one"}, 0},
		{"behind the leaf", append(story("u1 a2 u3 a4"), labelLine("u5", "2", "two")), map[string]string{"2": "two"}, 1},
		{"on another branch", append(story("u1 a2 u3 a4"), labelLine("u5^1", "2", "two"), labelLine("u6^5", "5", "no")), map[string]string{"2": "two"}, 1},
		{"of an entry elsewhere", append(story("u1 a2 u3 a4 u5^2"), labelLine("u6", "5", "five")), map[string]string{}, 0},
		{"cleared behind the leaf", append(story("u1 a2"), labelLine("u3", "1", "one"), line("u4"), labelLine("u5", "1", "")), map[string]string{}, 1},
		{"cleared on the path", append(append(story("u1"), labelLine("u2", "1", "one"), labelLine("u3", "1", "")), line("u4")), map[string]string{}, 0},
		{"the last of the file counts", append(story("u1 a2 u3 a4"), labelLine("u5", "1", "a"), labelLine("u6", "1", "b"), labelLine("u7^2", "3", "c")), map[string]string{"1": "b", "3": "c"}, 2},
		{"said again behind the leaf", append(story("u1 a2"), labelLine("u3", "1", "one"), line("u4"), labelLine("u5", "1", "one")), map[string]string{"1": "one"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := read(t, write(t, c.lines...))
			next := copyPath(t, s, "4")
			r := read(t, next.File())
			if got := r.Labels(); !sameNames(got, c.want) {
				t.Errorf("labels %v, want %v", got, c.want)
			}
			if got := len(r.Entries()) - len(s.Path("4")); got != c.added {
				t.Errorf("%d entries behind the path, want %d", got, c.added)
			}
			if gist(r.Context()) != gist(ContextOf(s.Path("4"))) || len(r.Branch()) != len(r.Entries()) {
				t.Errorf("context %q, %d of %d entries on the branch", gist(r.Context()), len(r.Branch()), len(r.Entries()))
			}
			if p := r.Problems(); p != nil {
				t.Errorf("problems %q", p)
			}
		})
	}
}

func sameNames(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for id, name := range a {
		if b[id] != name {
			return false
		}
	}
	return true
}

func TestACopyOfAnOlderVersionIsOfThisOne(t *testing.T) {
	for version, lines := range map[string][]string{"1": versionOne, "2": versionTwo()} {
		s := read(t, write(t, lines...))
		before := contents(t, s.File())
		c := copyPath(t, s, s.Leaf())
		r := read(t, c.File())
		if r.Header().Version != Version || gist(r.Context()) != gist(s.Context()) || len(r.Entries()) != len(s.Entries()) {
			t.Errorf("version %s: %+v, %q, want %q", version, r.Header(), gist(r.Context()), gist(s.Context()))
		}
		if strings.Contains(contents(t, c.File()), "hookMessage") || r.Problems() != nil {
			t.Errorf("version %s:\n%s", version, contents(t, c.File()))
		}
		if contents(t, s.File()) != before {
			t.Errorf("version %s: the source has changed", version)
		}
	}
}

func versionTwo() []string {
	hook := `{"type":"message","id":"3","parentId":"2","timestamp":"","message":{"role":"hookMessage","customType":"h","content":"3","display":true,"timestamp":1}}`
	return append(strings.Split(strings.Replace(strings.Join(story("u1 a2"), "\n"), `"version":3`, `"version":2`, 1), "\n"), hook, line("u4"))
}

func TestACopyReadsBodiesThatWereNotLoadedYet(t *testing.T) {
	lines := story("u1 a2 u3 a4")
	s := readWith(t, write(t, lines...), 64)
	c := copyPath(t, s, "4")
	if got := strings.Split(strings.TrimSpace(contents(t, c.File())), "\n")[1:]; !slices.Equal(got, lines[1:]) {
		t.Errorf("it has\n%s", strings.Join(got, "\n"))
	}
}

func TestALineThatIsGoneIsNotLeftOutOfACopy(t *testing.T) {
	path := write(t, story("u1 a2 u3 a4")...)
	s := readWith(t, path, 64)
	if err := os.Truncate(path, int64(len(headerLine)+10)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if c, err := s.CopyPath("4", Options{Dir: dir, Cwd: "/w"}); err == nil || !strings.Contains(err.Error(), "can no longer be read") {
		t.Errorf("%v, %v", c, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); left != nil {
		t.Errorf("there is %q", left)
	}
}

func TestACopyThatCannotBeWrittenLeavesNoFile(t *testing.T) {
	s := read(t, write(t, story("u1 a2")...))
	for name, fail := range map[string]func(*store){
		"write": func(st *store) {
			st.testOnlyWrite = func(f *os.File, b []byte) (int, error) { n, _ := f.Write(b[:len(b)/2]); return n, io.ErrShortWrite }
		},
		"sync": func(st *store) { st.testOnlySync = func(*os.File) error { return io.ErrUnexpectedEOF } },
	} {
		next := New(Options{Dir: t.TempDir(), Cwd: "/w"})
		fail(next.journal.store)
		var unsaved *SaveError
		if err := next.startWith(s.linesOf(s.Path("2"), next.loader.header)); !errors.As(err, &unsaved) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(next.File()), "*")); left != nil {
			t.Errorf("%s: there is %q", name, left)
		}
	}
	if c, err := s.CopyPath("9", Options{Dir: t.TempDir()}); err == nil || c != nil {
		t.Errorf("no such entry: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CopyPath("2", Options{Dir: filepath.Join(file, "below")}); err == nil {
		t.Error("a folder that cannot be made is no error")
	}
}

func TestACopyTellsWhatCouldNotBeRead(t *testing.T) {
	lines := append(story("u1 a2"), "garbage", line("u3"))
	lines[0] = strings.Replace(lines[0], `"version":3`, `"version":4`, 1)
	path := write(t, lines...)
	c, err := OpenAs(t.Context(), path, Options{Dir: t.TempDir(), Cwd: "/w"}, ToCopy, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := c.Problems(); len(got) != 1 || got[0] != "line 4 cannot be read; it is left where it is" {
		t.Errorf("%q", got)
	}
	if got := gist(c.Context()); got != "1 2 3" {
		t.Errorf("context %q", got)
	}
}

func TestACopyKeepsWhatACompactionKeepsFromAnIDThatStandsTwice(t *testing.T) {
	s := read(t, write(t, story("u2^0 a3^2 u2^3 a4^2 c5:2^4 u6")...))
	want := gist(s.Context())
	if want != "summary5 2 4 6" {
		t.Fatalf("context %q", want)
	}
	if got := gist(read(t, copyPath(t, s, "6").File()).Context()); got != want {
		t.Errorf("the copy has %q, not %q", got, want)
	}
}

func TestACopyOfALargeSessionDoesNotKeepItInMemory(t *testing.T) {
	s := readWith(t, write(t, story("u1 a2 u3 a4 u5")...), 64)
	copyPath(t, s, "4")
	for range s.Lines() {
	}
	for _, e := range s.Entries() {
		if e.raw != nil {
			t.Errorf("entry %s is kept", e.ID)
		}
	}
}

func TestACopyThatIsNeverSavedHasThePathToo(t *testing.T) {
	s := New(Options{Cwd: "/w"})
	say(t, s, "1")
	leaf := say(t, s, "2").ID
	say(t, s, "3")
	c, err := s.CopyPath(leaf, Options{Cwd: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	say(t, c, "next")
	if got := gist(c.Context()); got != "1 2 next" || c.File() != "" || c.Header().ParentSession != "" {
		t.Errorf("context %q, file %q", got, c.File())
	}
}

func FuzzACopyHasTheTreeOfItsSource(f *testing.F) {
	f.Add([]byte(strings.Join(everyEntry, "\n")), byte(20), false)
	f.Add([]byte(strings.Join(versionOne, "\n")), byte(3), false)
	for _, words := range []string{"u1^3 u2^1 u3^2", "u1 u1 u1", "u1 a2 c3:1 e4:1=null k5^2", "u1^9 u2^8"} {
		f.Add([]byte(strings.Join(story(words), "\n")), byte(2), true)
	}
	f.Add([]byte(headerLine+"\n"+`{"type":"label","targetId":"line-2","label":"x"}`+"\n"+`{"type":"label","targetId":"2","label":"y","id":""}`), byte(1), false)
	f.Fuzz(func(t *testing.T, text []byte, which byte, lazy bool) {
		path := writeRaw(t, string(text))
		buffer := 0
		if lazy {
			buffer = 64
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		s := newSession(Options{})
		s.setFile(path)
		s.readOnly, s.loader.testOnlyBuffer = true, buffer
		if s.load(file) != nil || len(s.Entries()) == 0 {
			return
		}
		leaf := s.Entries()[int(which)%len(s.Entries())]
		o := Options{} // waiting for the disk each time would find little
		if lazy {
			o.Dir = t.TempDir()
		}
		c, err := s.CopyPath(leaf.ID, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		checkCopy(t, s, leaf.ID, c)
		checkLoaded(t, c)
		if after := contents(t, path); after != string(text) {
			t.Error("the source has changed")
		}
	})
}

// checkCopy holds what a copy has of its source.
func checkCopy(t *testing.T, s *Session, leaf string, c *Session) {
	want, got := s.Path(leaf), c.Branch()
	if len(got) < len(want) || len(got) != len(c.Entries()) {
		t.Fatalf("%d entries on the branch, %d in all, want %d", len(got), len(c.Entries()), len(want))
	}
	says := s.Labels()
	for i, e := range want {
		if !whole(e) {
			return // what stands in such a line is nobody's word
		}
		if got[i].ID != e.ID || got[i].ParentID != e.ParentID || got[i].Type != e.Type {
			t.Errorf("entry %d is %s of %s, want %s of %s", i, got[i].ID, got[i].ParentID, e.ID, e.ParentID)
		}
		if c.Labels()[e.ID] != says[e.ID] {
			t.Errorf("entry %s is called %q, want %q", e.ID, c.Labels()[e.ID], says[e.ID])
		}
	}
	for _, e := range got[len(want):] {
		if e.Type != TypeLabel {
			t.Errorf("behind the path is a %s", e.Type)
		}
	}
	if a, b := shown(ContextOf(want)), shown(ContextOf(got)); !bytes.Equal(a, b) {
		t.Errorf("context\n%s\nwant\n%s", b, a)
	}
}

func whole(e *Entry) bool { return rawjson.Valid(e.Raw()) }

func shown(items []Item) []byte {
	var b []byte
	for _, it := range items {
		m, _ := it.Message.MarshalJSON()
		b = append(append(b, m...), '\n')
	}
	return b
}

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
