package folder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pi/session"
)

func TestWhereTheUsersTrashIs(t *testing.T) {
	for _, c := range []struct {
		system, home, data string
		want               Trash
	}{
		{"linux", "/home/u", "", Trash{Dir: "/home/u/.local/share/Trash", Noted: true}},
		{"freebsd", "/home/u", "/data", Trash{Dir: "/data/Trash", Noted: true}},
		{"linux", "/home/u", "relative", Trash{Dir: "/home/u/.local/share/Trash", Noted: true}},
		{"linux", "", "/data", Trash{Dir: "/data/Trash", Noted: true}},
		{"linux", "", "", Trash{}},
		{"darwin", "/Users/u", "/data", Trash{Dir: "/Users/u/.Trash"}},
		{"darwin", "", "", Trash{}},
		{"windows", `C:\Users\u`, "", Trash{}},
	} {
		got := UserTrash(c.system, func(name string) string {
			return map[string]string{"HOME": c.home, "XDG_DATA_HOME": c.data}[name]
		})
		got.Dir = filepath.ToSlash(got.Dir)
		if got.Dir != c.want.Dir || got.Noted != c.want.Noted {
			t.Errorf("%s, %q, %q: %+v, want %+v", c.system, c.home, c.data, got, c.want)
		}
	}
}

func TestWhatIsRemovedLiesInTheTrashAsItWas(t *testing.T) {
	for _, noted := range []bool{true, false} {
		dir := t.TempDir()
		trash := Trash{Dir: filepath.Join(dir, "Trash"), Noted: noted,
			Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local) }}
		folder := filepath.Join(dir, "odd 100% [ü]")
		path := heldIn(t, folder, "one", "/p", time.Now())
		was, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for range 3 { // the same name again and again
			if err := os.WriteFile(path, was, 0o600); err != nil {
				t.Fatal(err)
			}
			to, err := trash.Put(path, session.Options{})
			if err != nil {
				t.Fatal(err)
			}
			names[filepath.Base(to)] = true
			if now, err := os.ReadFile(to); err != nil || string(now) != string(was) {
				t.Errorf("%s holds %q, %v", to, now, err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is still there: %v", path, err)
			}
		}
		if !names["one.jsonl"] || !names["one.2.jsonl"] || !names["one.3.jsonl"] {
			t.Errorf("they are called %v", names)
		}
		note, err := os.ReadFile(filepath.Join(dir, "Trash", "info", "one.2.jsonl.trashinfo"))
		if !noted {
			if err == nil {
				t.Error("there is a note where none belongs")
			}
			continue
		}
		want := "[Trash Info]\nPath=" + filepath.ToSlash(dir) + "/odd%20100%25%20%5B%C3%BC%5D/one.jsonl\nDeletionDate=2026-01-02T03:04:05\n"
		if err != nil || string(note) != want {
			t.Errorf("the note says %q, %v; want %q", note, err, want)
		}
	}
}

func TestWhatIsNotThereToBeRemovedStays(t *testing.T) {
	dir := t.TempDir()
	trash := Trash{Dir: filepath.Join(dir, "Trash"), Noted: true}
	held := heldIn(t, dir, "held", "/p", time.Now())
	s, err := session.Open(held, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	notes := filepath.Join(dir, "notes.jsonl")
	if err := os.WriteFile(notes, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var busy *session.BusyError
	var not *session.NotSessionError
	for path, is := range map[string]func(error) bool{
		held:                           func(err error) bool { return errors.As(err, &busy) },
		notes:                          func(err error) bool { return errors.As(err, &not) },
		filepath.Join(dir, "no.jsonl"): func(err error) bool { return errors.Is(err, os.ErrNotExist) },
	} {
		if _, err := trash.Put(path, session.Options{}); !is(err) {
			t.Errorf("trash %s: %v", path, err)
		}
		if err := Delete(path, session.Options{}); !is(err) {
			t.Errorf("delete %s: %v", path, err)
		}
	}
	for _, path := range []string{held, notes} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func TestWithoutATrashASessionStaysUnlessItIsDeletedForGood(t *testing.T) {
	dir := t.TempDir()
	path := heldIn(t, dir, "one", "/p", time.Now())
	file := heldIn(t, dir, "file", "/p", time.Now())
	for _, trash := range []Trash{{}, {Dir: filepath.Join(file, "Trash"), Noted: true}, {Dir: file}} {
		var none *NoTrashError
		if to, err := trash.Put(path, session.Options{}); !errors.As(err, &none) || to != "" || !strings.Contains(err.Error(), path) {
			t.Errorf("%+v: %q, %v", trash, to, err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := Delete(path, session.Options{}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestATrashThatCannotTakeTheFileKeepsNoNoteOfIt(t *testing.T) {
	dir := t.TempDir()
	path := heldIn(t, dir, "one", "/p", time.Now())
	trash := Trash{Dir: filepath.Join(dir, "Trash"), Noted: true, testOnlyRename: func(string, string) error { return errors.New("another file system") }}
	var none *NoTrashError
	if _, err := trash.Put(path, session.Options{}); !errors.As(err, &none) {
		t.Fatal(err)
	}
	if notes, err := os.ReadDir(filepath.Join(dir, "Trash", "info")); err != nil || len(notes) != 0 {
		t.Errorf("notes of what is not there: %v, %v", notes, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
