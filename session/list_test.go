package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
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
