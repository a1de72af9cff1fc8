package folder

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/session"
	"pi/session/message"
)

func TestListLooksAtHeadersAndPutsTheNewestFirst(t *testing.T) {
	root := filepath.Join(t.TempDir(), "odd [root]*")
	at := time.Date(2025, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for i, cwd := range []string{"/a/b", "/a-b", "/a/b"} {
		s := session.New(session.Options{Dir: root, Cwd: cwd, Now: func() time.Time { return at }})
		if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("prompt of " + cwd)}}); err != nil {
			t.Fatal(err)
		}
		s.Append(session.TypeSessionInfo, session.SessionInfo{Name: "name"})
		s.Close()
		if err := os.Chtimes(s.File(), at, at.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(root, "no.jsonl"), []byte("no session\n"), 0o600)
	all, err := scanAll(root, "")
	if err != nil || len(all) != 3 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	here, err := scanAll(root, "/a/b")
	if err != nil || len(here) != 2 || !here[0].Modified.After(here[1].Modified) {
		t.Fatalf("%d sessions of /a/b, %v", len(here), err)
	}
	if i := here[0]; i.FirstPrompt != "prompt of /a/b" || i.Name != "name" || i.Entries != 2 || i.Messages != 1 || !i.Created.Equal(at) || i.Size == 0 {
		t.Errorf("%+v", i)
	}
	if got, err := scanAll(filepath.Join(root, "nowhere"), ""); got != nil || err != nil {
		t.Errorf("a root that is not there: %v, %v", got, err)
	}
}

func TestFindTakesAWholeIDOrTheOnlyBeginning(t *testing.T) {
	root := t.TempDir()
	for _, id := range []string{"abc", "abcd", "abxy"} {
		h := `{"type":"session","version":3,"id":"` + id + `"}` + "\n"
		if err := os.WriteFile(filepath.Join(root, id+".jsonl"), []byte(h), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]string{"abc": "abc", "abcd": "abcd", "abx": "abxy"} {
		if got, err := Find(root, prefix); err != nil || filepath.Base(got) != want+".jsonl" {
			t.Errorf("%q: %q, %v", prefix, got, err)
		}
	}
	var many *AmbiguousError
	if _, err := Find(root, "ab"); !errors.As(err, &many) || len(many.Paths) != 3 {
		t.Errorf("several: %v", err)
	}
	for _, prefix := range []string{"", "x"} {
		var none *NotFoundError
		if _, err := Find(root, prefix); !errors.As(err, &none) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

// heldIn writes a session of cwd into a folder and says when it was written.
func heldIn(t *testing.T, folder, id, cwd string, written time.Time) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, id+".jsonl")
	line := `{"type":"session","version":3,"id":"` + id + `","cwd":"` + cwd + `"}` + "\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, written, written); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDirectoriesWhoseFoldersHaveOneNameSeeTheirOwnSessions(t *testing.T) {
	root, at := t.TempDir(), time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	folder := filepath.Join(root, session.FolderName("/a/b"))
	older := heldIn(t, folder, "one", "/a/b", at)
	heldIn(t, folder, "two", "/a-b", at.Add(time.Hour))
	if got, err := Latest(root, "/a/b"); got != older || err != nil {
		t.Errorf("the last of /a/b: %q, %v", got, err)
	}
	if ids := IDs(root, "/a-b", "t", 9); len(ids) != 1 || ids[0] != "two" || len(IDs(root, "/a/b", "t", 9))+len(IDs(root, "", "", 1)) != 1 {
		t.Errorf("ids of /a-b: %q", ids)
	}
	if infos, err := scanAll(root, "/a-b"); err != nil || len(infos) != 1 || infos[0].ID != "two" {
		t.Errorf("those of /a-b: %+v, %v", infos, err)
	}
}

func TestALongHeaderIsReadToItsEnd(t *testing.T) {
	root, cwd := t.TempDir(), "/"+strings.Repeat("deep/", 20_000)
	path := heldIn(t, root, "deep", cwd, time.Unix(1, 0))
	if got, err := Latest(root, cwd); got != path || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAScanDescribesOnlyWhatIsAskedFor(t *testing.T) {
	root, at := t.TempDir(), time.Unix(1e9, 0)
	heldIn(t, root, "new", "/p", at.Add(time.Hour))
	old := heldIn(t, root, "old", "/p", at)
	for info, err := range Scan(root, "/p") {
		if err != nil {
			t.Fatal(err)
		}
		if info.ID == "new" {
			if err := os.Remove(old); err != nil { // gone before its turn comes: no error, no session
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%+v was read before it was asked for", info)
	}
}

func TestARootThatIsNoFolderIsAnError(t *testing.T) {
	root := heldIn(t, t.TempDir(), "file", "/p", time.Unix(1, 0))
	if infos, err := scanAll(root, "/p"); err == nil || len(infos) != 0 {
		t.Errorf("%+v, %v", infos, err)
	}
	if _, err := Latest(root, "/p"); err == nil {
		t.Error("the last of it is none")
	}
	var none *NotFoundError
	if _, err := Find(root, "x"); !errors.As(err, &none) || !strings.Contains(err.Error(), "list sessions") {
		t.Error(err)
	}
}

func TestALaterSessionThatCannotBeReadIsToldBesideTheLast(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("everything can be read")
	}
	root, at := t.TempDir(), time.Unix(1e9, 0)
	path := heldIn(t, root, "old", "/p", at)
	locked := heldIn(t, root, "new", "/p", at.Add(time.Hour))
	older := heldIn(t, root, "older", "/p", at.Add(-time.Hour))
	for _, file := range []string{locked, older} {
		if err := os.Chmod(file, 0); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Latest(root, "/p")
	if got != path || err == nil || !strings.Contains(err.Error(), locked) || strings.Contains(err.Error(), older) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTheLastSessionIsTheOneWrittenLastWhateverItsClockSays(t *testing.T) {
	root, written := t.TempDir(), time.Now().Add(-time.Hour)
	for _, clock := range []time.Time{
		time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), {}, time.Date(2026, 1, 2, 3, 4, 4, 0, time.UTC),
	} {
		s := session.New(session.Options{Dir: root, Cwd: "/w", Now: func() time.Time { return clock }})
		if err := errors.Join(s.Flush(), s.Close()); err != nil {
			t.Fatal(err)
		}
		if got, err := Latest(root, "/w"); err != nil || got != s.File() {
			t.Errorf("the last session is %q, not %q: %v", got, s.File(), err)
		}
		written = written.Add(time.Second)
		if err := os.Chtimes(s.File(), written, written); err != nil {
			t.Fatal(err)
		}
	}
}

// scanAll is the whole of a Scan: what could be described, and all errors.
func scanAll(root, cwd string) (infos []Info, problems error) {
	for info, err := range Scan(root, cwd) {
		if err != nil {
			problems = errors.Join(problems, err)
			continue
		}
		infos = append(infos, info)
	}
	return infos, problems
}

func TestASessionIsFoundByItsWholeIDInItsOwnDirectory(t *testing.T) {
	root := t.TempDir()
	for id, cwd := range map[string]string{"mine": "/a", "mine.too": "/a", "theirs": "/b"} {
		s := session.New(session.Options{Dir: root, Cwd: cwd, ID: id})
		if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("x")}}); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	for id, want := range map[string]bool{"mine": true, "mine.too": true, "mine.": false, "min": false, "theirs": false} {
		path, err := FindID(root, "/a", id)
		if err != nil || (path != "") != want || want && !strings.HasSuffix(path, "_"+id+".jsonl") {
			t.Errorf("%s: %q, %v", id, path, err)
		}
	}
	for id, want := range map[string]bool{"a": true, "a.b_c-d": true, "": false, ".a": false, "a-": false, "a/b": false, "ä": false, strings.Repeat("a", 129): false} {
		if session.ValidID(id) != want {
			t.Errorf("%q is an id: %v", id, !want)
		}
	}
}

// Sessions of agents that others used are found by who asks for them, and in no list of
// users' sessions.
func TestSessionsOfAgentsAreFoundByWhoAsksForThem(t *testing.T) {
	root := t.TempDir()
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	paths := map[string]string{}
	for i, o := range []session.Options{{ID: "user-1"}, {ID: "agent-1", Agent: session.AgentMark{Name: "reviewer", Depth: 2}}} {
		o.Dir, o.Cwd, o.Parent = root, "/a", "/p.jsonl"
		s := session.New(o)
		if _, err := s.AppendMessage(&message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("look")}}); err != nil {
			t.Fatal(err)
		}
		s.Close()
		paths[o.ID] = s.File()
		if err := os.Chtimes(s.File(), at, at.Add(time.Duration(i)*time.Hour)); err != nil { // the agent's is the newest
			t.Fatal(err)
		}
	}
	for name, scan := range map[string]func(root, cwd string) iter.Seq2[Info, error]{"Scan": Scan, "ScanWords": ScanWords, "ScanChildren": ScanChildren} {
		want := "user-1"
		if name == "ScanChildren" {
			want = "agent-1"
		}
		n := 0
		for info, err := range scan(root, "/a") {
			if n++; err != nil || info.ID != want || info.Agent.IsSet() != (want == "agent-1") {
				t.Errorf("%s yields %s, %v", name, info.ID, err)
			}
		}
		if n != 1 {
			t.Errorf("%s yields %d sessions", name, n)
		}
	}
	if path, err := Latest(root, "/a"); path != paths["user-1"] || err != nil {
		t.Errorf("the last one is %s, %v", path, err)
	}
	if ids := IDs(root, "/a", "", 9); len(ids) != 1 || ids[0] != "user-1" {
		t.Errorf("ids %v", ids)
	}
	if path, err := Find(root, "agent"); path != paths["agent-1"] || err != nil {
		t.Errorf("found %s, %v", path, err)
	}
	if path, err := FindID(root, "/a", "agent-1"); path != paths["agent-1"] || err != nil {
		t.Errorf("found %s, %v", path, err)
	}
	if all, err := Paths(root, "/a"); len(all) != 2 || err != nil {
		t.Errorf("paths %v, %v", all, err)
	}
}

func TestAGlanceSaysWhatADescriptionDoes(t *testing.T) {
	const cwd = "/p"
	root := t.TempDir()
	inside := filepath.Join(root, session.FolderName(cwd))
	if err := os.MkdirAll(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	prompt := `{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"hi"}}`
	long := `{"type":"message","id":"2","parentId":"1","message":{"role":"user","content":"` + strings.Repeat("x", 2*glanced) + `"}}`
	named := `{"type":"session_info","id":"3","name":"a name"}`
	for id, lines := range map[string][]string{
		"short": {prompt}, "named": {named, prompt}, "long": {prompt, long, prompt}, "named-behind": {prompt, long, named}, "cut": {prompt, long, named, long[:40]},
		"lone": {}, "begins-long": {long},
	} {
		header := fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-02T03:04:05Z","cwd":%q}`, id, cwd)
		if err := os.WriteFile(filepath.Join(inside, "1_"+id+".jsonl"), []byte(strings.Join(append([]string{header}, lines...), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(inside, "1_none.jsonl"), []byte("no session"), 0o600); err != nil {
		t.Fatal(err)
	}
	found := Glance(root, cwd, "", 10)
	if len(found) != 7 {
		t.Errorf("%d sessions", len(found))
	}
	for _, got := range found {
		want, err := Describe(got.Path)
		if err != nil {
			t.Fatal(err)
		}
		if got.ID != want.ID || got.Name != want.Name || got.Cwd != want.Cwd || got.ID != "begins-long" && got.FirstPrompt != want.FirstPrompt {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	for prefix, n := range map[string]int{"named": 2, "named-": 1, "other": 0, "": 2} {
		if got := Glance(root, cwd, prefix, 2); len(got) != n {
			t.Errorf("%q: %d sessions, want %d", prefix, len(got), n)
		}
	}
	if got := Glance(root, "/elsewhere", "", 10); len(got) != 0 {
		t.Errorf("%d sessions of another directory", len(got))
	}
}
