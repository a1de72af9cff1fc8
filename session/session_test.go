package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/session/message"
)

func user(s string) *message.Message {
	return &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(s)}, Timestamp: 1}
}

func open(t testing.TB, path string, o Options) *Session {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func say(t testing.TB, s *Session, text string) *Entry {
	t.Helper()
	e, err := s.AppendMessage(user(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func contents(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSessionSurvivesClosingAndOpening(t *testing.T) {
	s := New(Options{Dir: t.TempDir(), Cwd: "/home/u/my proj:x", Parent: "/p.jsonl"})
	if _, err := s.Append(TypeModelChange, ModelChange{Provider: "demo", ModelID: "tour"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.File()); err == nil {
		t.Error("the file exists before the first message")
	}
	want := say(t, s, "hello <you>").ID
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(contents(t, s.File()), "hello <you>") {
		t.Error("the text is escaped")
	}
	r := open(t, s.File(), Options{})
	if r.Leaf() != want || r.ID() != s.ID() || r.Cwd() != s.Cwd() || r.Header().ParentSession != "/p.jsonl" || len(r.Entries()) != 2 {
		t.Errorf("leaf %q id %q entries %d", r.Leaf(), r.ID(), len(r.Entries()))
	}
	if p := r.Problems(); p != nil {
		t.Errorf("problems: %q", p)
	}
	if items := r.Context(); len(items) != 1 || items[0].Message.Text() != "hello <you>" || items[0].Index != 1 {
		t.Errorf("context: %+v", items)
	}
	if p, id := r.Model(); p != "demo" || id != "tour" {
		t.Errorf("model %s/%s", p, id)
	}
}

func TestFileAppearsWhenThereIsSomethingToKeep(t *testing.T) {
	s := New(Options{Dir: t.TempDir(), Cwd: "/w"})
	s.Append("own", nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(s.File())); err == nil {
		t.Error("something was written for a session in which nothing was said")
	}
	s = New(Options{Dir: t.TempDir(), Cwd: "/w"})
	s.Append(TypeSessionInfo, SessionInfo{Name: "n"})
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s.File()).Name(); got != "n" {
		t.Errorf("name %q", got)
	}
	s.Close()
	s = New(Options{Cwd: "/w"})
	say(t, s, "never saved")
	if s.File() != "" || s.Sync() != nil || s.Close() != nil || gist(s.Context()) != "never saved" {
		t.Error("a session without a folder is not simply kept in memory")
	}
}

func TestPathThatDoesNotExistIsWhereTheSessionGoes(t *testing.T) {
	for _, empty := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "new", "s.jsonl")
		if empty {
			path = writeRaw(t, "")
		}
		s := open(t, path, Options{Cwd: "/w"})
		say(t, s, "hello")
		if s.File() != path || gist(read(t, path).Context()) != "hello" || read(t, path).Cwd() != "/w" {
			t.Errorf("the session is not in %s", path)
		}
	}
}

func TestFileMadeByAnotherMeanwhileIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	s := open(t, path, Options{})
	if err := os.WriteFile(path, []byte("mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var failed *SaveError
	if _, err := s.AppendMessage(user("x")); !errors.As(err, &failed) {
		t.Errorf("append: %v", err)
	}
	if contents(t, path) != "mine\n" {
		t.Error("the file was written to")
	}
}

func TestOneWriterAtATime(t *testing.T) {
	locks := filepath.Join(t.TempDir(), "locks")
	s := New(Options{Dir: t.TempDir(), Cwd: "/w", LockDir: locks})
	say(t, s, "first")
	var busy *BusyError
	if _, err := Open(s.File(), Options{LockDir: locks}); !errors.As(err, &busy) {
		t.Fatalf("second writer: %v", err)
	}
	if busy.PID != os.Getpid() || busy.Since.IsZero() || busy.Path != s.File() {
		t.Errorf("who holds it: %+v", busy)
	}
	if got := gist(read(t, s.File()).Context()); got != "first" {
		t.Errorf("a reader sees %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, s.File(), Options{LockDir: locks}).Close()
	if left, _ := os.ReadDir(locks); len(left) != 0 {
		t.Error("a hint about the lock is left behind")
	}
}

func TestLinesOfAnotherWriterAreReadAndTheLeafStaysOurs(t *testing.T) {
	path := write(t, story("u1 u2")...)
	s := open(t, path, Options{})
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, line("u3")+"\n"+line("u4")[:50])
	e := say(t, s, "ours")
	if e.ParentID != "2" || s.Entry("3") == nil {
		t.Errorf("our entry hangs on %q", e.ParentID)
	}
	r := read(t, path)
	if gist(r.Context()) != "1 2 ours" || len(r.Entries()) != 4 {
		t.Errorf("context %q after opening again", gist(r.Context()))
	}
	if p := s.Problems(); len(p) != 2 || !strings.Contains(p[1], "line 5 cannot be read") {
		t.Errorf("problems %q", p)
	}
}

func TestFailedWritesKeepTheEntryAndAreTriedAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		write func(f *os.File, b []byte) (int, error)
	}{
		{"nothing written", func(*os.File, []byte) (int, error) { return 0, errors.New("no space") }},
		{"half a line written", func(f *os.File, b []byte) (int, error) {
			n, _ := f.Write(b[:len(b)/2])
			return n, errors.New("no space")
		}},
		{"short without an error", func(f *os.File, b []byte) (int, error) { return f.Write(b[:10]) }},
		{"half a line, and then another writer", func(f *os.File, b []byte) (int, error) {
			n, _ := f.Write(b[:len(b)/2])
			f.Write([]byte("\n" + line("u9") + "\n"))
			return n, errors.New("no space")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, story("u1")...)
			s := open(t, path, Options{})
			s.journal.store.testOnlyWrite = c.write
			e, err := s.AppendMessage(user("2"))
			var failed *SaveError
			if !errors.As(err, &failed) || e == nil || s.Leaf() != e.ID || s.Unsaved() == nil {
				t.Fatalf("entry %v, error %v, unsaved %v", e, err, s.Unsaved())
			}
			if got := gist(s.Context()); got != "1 2" {
				t.Errorf("context %q", got)
			}
			s.journal.store.testOnlyWrite = nil
			say(t, s, "3")
			if s.Unsaved() != nil || gist(read(t, path).Context()) != "1 2 3" {
				t.Errorf("context %q once there is space, unsaved %v", gist(read(t, path).Context()), s.Unsaved())
			}
			other := c.name == "half a line, and then another writer"
			if other != strings.Contains(contents(t, path), line("u9")+"\n") {
				t.Errorf("what the other wrote is lost:\n%s", contents(t, path))
			}
			if !other && read(t, path).Problems() != nil {
				t.Errorf("a piece of a line is left:\n%s", contents(t, path))
			}
		})
	}
}

func TestFileThatGoesAwayIsNoticed(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"deleted":  os.Remove,
		"replaced": func(path string) error { os.Remove(path); return os.WriteFile(path, []byte("other\n"), 0o600) },
		"emptied":  func(path string) error { return os.Truncate(path, 0) },
	} {
		path := write(t, story("u1")...)
		s := open(t, path, Options{})
		if err := harm(path); err != nil {
			t.Fatal(err)
		}
		var failed *SaveError
		if _, err := s.AppendMessage(user("2")); !errors.As(err, &failed) || s.Unsaved() == nil || gist(s.Context()) != "1 2" {
			t.Errorf("%s: %v", name, err)
		}
		if name == "replaced" && contents(t, path) != "other\n" {
			t.Error("the file in its place was written to")
		}
	}
}

func TestFailedSyncLeavesTheSessionUnsaved(t *testing.T) {
	s := open(t, write(t, story("u1")...), Options{})
	say(t, s, "2")
	s.journal.store.testOnlySync = func(*os.File) error { return errors.New("input/output error") }
	if s.Sync() == nil {
		t.Fatal("the error is lost")
	}
	s.journal.store.testOnlySync = nil
	if s.Sync() == nil || s.Unsaved() == nil {
		t.Error("a later sync made it good")
	}
}

func TestReadersMayLookWhileEntriesAreAppended(t *testing.T) {
	s := New(Options{Dir: t.TempDir(), Cwd: "/w", Now: time.Now})
	say(t, s, "0")
	stop, readers := make(chan struct{}), sync.WaitGroup{}
	for range 4 {
		readers.Go(func() {
			for seen := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				branch := s.Branch()
				if len(branch) < seen || branch[len(branch)-1].Message() == nil {
					t.Error("the branch shrank")
					return
				}
				seen = len(branch)
				s.Context()
				s.Entries()
				s.Entry(s.Leaf()).Raw()
				s.Model()
				s.Problems()
			}
		})
	}
	for i := range 200 {
		say(t, s, fmt.Sprint(i))
	}
	close(stop)
	readers.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFailureToSaveNamesTheFileOnce(t *testing.T) {
	err := &SaveError{Path: "/x/s.jsonl", Err: &os.PathError{Op: "write", Path: "/x/s.jsonl", Err: errors.New("no space left")}}
	if want := `save session "/x/s.jsonl": write: no space left`; err.Error() != want {
		t.Errorf("got %s, want %s", err, want)
	}
	err.Err = &os.PathError{Op: "mkdir", Path: "/x", Err: errors.New("read-only")}
	if want := `save session "/x/s.jsonl": mkdir /x: read-only`; err.Error() != want {
		t.Errorf("got %s, want %s", err, want)
	}
}

// moveLeaf moves the leaf as a move to nowhere else in the conversation is recorded.
func moveLeaf(s *Session, id string) (*Entry, error) {
	return s.MoveTo(id, Draft{TypeCustom, Custom{CustomType: LeafMove}})
}

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

func TestTheBranchOfGitIsTheLastOneOnTheBranch(t *testing.T) {
	s := New(Options{})
	on := func(data string) string {
		e, err := s.Append(TypeCustom, Custom{CustomType: GitBranch, Data: json.RawMessage(data)})
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	want := func(name string) {
		t.Helper()
		if got := s.GitBranch(); got != name {
			t.Errorf("the branch of git is %q, want %q", got, name)
		}
	}
	want("")
	end := s.EndOf(s.Leaf())
	first := on(`{"name":"one"}`)
	want("one")
	on(`{"name":"two"}`)
	want("two")
	on(`"not a record"`)
	want("two")
	if got := s.EndOf(s.Leaf()); got != end {
		t.Errorf("the conversation ends with %q, not %q", got, end)
	}
	if _, err := s.MoveTo(first, Draft{Type: TypeCustom, Body: Custom{CustomType: LeafMove}}); err != nil {
		t.Fatal(err)
	}
	want("one")
}

func TestTheBranchOfGitIsRecordedWhereItIsAnother(t *testing.T) {
	branch := "trunk"
	s := New(Options{GitBranch: func() string { return branch }})
	for _, c := range []struct {
		on      string
		entries int
	}{{"", 0}, {"trunk", 1}, {"trunk", 1}, {"", 1}, {"topic", 2}, {"trunk", 3}} {
		branch = c.on
		if err := s.RecordGitBranch(); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Entries()); n != c.entries {
			t.Errorf("on %q: %d entries, want %d", c.on, n, c.entries)
		}
	}
	if err := New(Options{}).RecordGitBranch(); err != nil {
		t.Error(err)
	}
}
