package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestFolderNames(t *testing.T) {
	for cwd, want := range map[string]string{
		"/home/u/my proj:x": "--home-u-my proj-x--", "/": "----", "": "----", `C:\Users\u`: "--C--Users-u--", "/a-b": "--a-b--", "/a/b": "--a-b--",
	} {
		if got := FolderName(cwd); got != want {
			t.Errorf("%q: %q, want %q", cwd, got, want)
		}
	}
}

func TestFolderNamesFitIntoAFileSystem(t *testing.T) {
	fits := "/" + strings.Repeat("a", 251)
	if got := FolderName(fits); got != "--"+fits[1:]+"--" {
		t.Errorf("a name that fits became %q", got)
	}
	deep := strings.Repeat("/ü", 200)
	names := map[string]bool{}
	for _, cwd := range []string{deep, deep + "/x", deep + "/y", fits + "b", fits + "/"} {
		name := FolderName(cwd)
		names[name] = true
		if len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\\:") || !strings.HasPrefix(name, "--") || !strings.HasSuffix(name, "--") {
			t.Errorf("%q of %d bytes", name, len(name))
		}
	}
	if len(names) != 5 {
		t.Errorf("five directories have %d names", len(names))
	}
}

func TestListLooksAtHeadersAndPutsTheNewestFirst(t *testing.T) {
	root := filepath.Join(t.TempDir(), "odd [root]*")
	at := time.Date(2025, 1, 2, 3, 4, 5, 6e6, time.UTC)
	for i, cwd := range []string{"/a/b", "/a-b", "/a/b"} {
		s := New(Options{Dir: root, Cwd: cwd, Now: func() time.Time { return at }})
		say(t, s, "prompt of "+cwd)
		s.Append(TypeSessionInfo, SessionInfo{Name: "name"})
		s.Close()
		if err := os.Chtimes(s.File(), at, at.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(root, "no.jsonl"), []byte("no session\n"), 0o600)
	all, err := List(root, "")
	if err != nil || len(all) != 3 {
		t.Fatalf("%d sessions, %v", len(all), err)
	}
	here, err := List(root, "/a/b")
	if err != nil || len(here) != 2 || !here[0].Modified.After(here[1].Modified) {
		t.Fatalf("%d sessions of /a/b, %v", len(here), err)
	}
	if i := here[0]; i.FirstPrompt != "prompt of /a/b" || i.Name != "name" || i.Entries != 2 || i.Messages != 1 || !i.Created.Equal(at) || i.Size == 0 {
		t.Errorf("%+v", i)
	}
	if got, err := List(filepath.Join(root, "nowhere"), ""); got != nil || err != nil {
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
	folder := filepath.Join(root, FolderName("/a/b"))
	older := heldIn(t, folder, "one", "/a/b", at)
	heldIn(t, folder, "two", "/a-b", at.Add(time.Hour))
	if got, err := Latest(root, "/a/b"); got != older || err != nil {
		t.Errorf("the last of /a/b: %q, %v", got, err)
	}
	if ids := IDs(root, "/a-b", "t", 9); len(ids) != 1 || ids[0] != "two" || len(IDs(root, "/a/b", "t", 9))+len(IDs(root, "", "", 1)) != 1 {
		t.Errorf("ids of /a-b: %q", ids)
	}
	if infos, err := List(root, "/a-b"); err != nil || len(infos) != 1 || infos[0].ID != "two" {
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
	if infos, err := List(root, "/p"); err == nil || len(infos) != 0 {
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
