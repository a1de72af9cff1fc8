package safefile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestOnlyRegularFilesOfASensibleSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, []byte("12345"), 0o600))
	link := filepath.Join(dir, "link")
	tests := []struct {
		name string
		path string
		most int64
		want string
		err  error
	}{
		{"as large as it may be", file, 5, "12345", nil},
		{"too large", file, 4, "", ErrNotRegular},
		{"a folder", dir, 5, "", ErrNotRegular},
		{"nothing", filepath.Join(dir, "none"), 5, "", fs.ErrNotExist},
	}
	if os.Symlink(file, link) == nil {
		tests = append(tests, tests[0])
		tests[len(tests)-1].name, tests[len(tests)-1].path = "a link to a file", link
	}
	if runtime.GOOS != "windows" {
		tests = append(tests, tests[2])
		tests[len(tests)-1].name, tests[len(tests)-1].path = "a device", os.DevNull
	}
	for _, tt := range tests {
		got, err := Read(tt.path, tt.most)
		if string(got) != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("%s: %q, %v; want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
	if f, err := Open(dir, os.O_RDWR); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder was opened to write: %v, %v", f, err)
	}
}

func TestOneDescriptorAtATimeHasALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte("text"), 0o600))
	open := func() *os.File {
		f, err := Open(path, os.O_RDWR)
		must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if err := Lock(first); errors.Is(err, ErrNoLock) {
		t.Skip("no locks here")
	} else {
		must(t, err)
	}
	if err := Lock(second); !errors.Is(err, ErrLocked) {
		t.Fatalf("two have the lock: %v", err)
	}
	if got, err := Read(path, 10); err != nil || string(got) != "text" {
		t.Errorf("a locked file is read as %q, %v", got, err)
	}
	Unlock(first)
	must(t, Lock(second))
	must(t, second.Close())
	must(t, Lock(first))
}

func TestReplacePutsAWholeFileInPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "too")
	path := filepath.Join(dir, "file")
	for _, durable := range []bool{true, false} {
		want := bytes.Repeat([]byte{'a' + byte(len(path))}, 1<<16)
		must(t, Replace(path, want, durable))
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("durable %v: %d bytes, %v", durable, len(got), err)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestReplaceKnowsTheLongestNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 255)) // as those of histories may be
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Skip(err)
	}
	must(t, Replace(path, []byte("text"), false))
	if got, err := os.ReadFile(path); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReplaceThatFailsLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	must(t, os.MkdirAll(filepath.Join(path, "in"), 0o700))
	if err := Replace(path, []byte("text"), true); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 || !entries[0].IsDir() {
		t.Errorf("left: %v", entries)
	}
}

func TestExchangePutsAFolderInThePlaceOfAnother(t *testing.T) {
	for name, exchange := range map[string]func(next, path string) error{"at once": Exchange, "in steps": exchangeInSteps} {
		dir := t.TempDir()
		for _, name := range []string{"old", "new"} {
			must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
			must(t, os.WriteFile(filepath.Join(dir, name, name), nil, 0o600))
		}
		must(t, exchange(filepath.Join(dir, "new"), filepath.Join(dir, "old")))
		for _, path := range []string{"old/new", "new/old"} {
			if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := exchange(filepath.Join(dir, "gone"), filepath.Join(dir, "old")); err == nil {
			t.Errorf("%s: nothing was put in its place", name)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 2 {
			t.Errorf("%s: left %v", name, entries)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheTargetOfAPathIsBehindItsLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := func(to, name string) string {
		path := filepath.Join(dir, name)
		if err := os.Symlink(to, path); err != nil {
			t.Skip(err)
		}
		return path
	}
	if err := os.MkdirAll(filepath.Join(dir, "far", "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	link("far/below", "short")
	for _, tt := range []struct{ name, path, want string }{
		{"no link, and no file", filepath.Join(dir, "file"), filepath.Join(dir, "file")},
		{"a link to nothing", link("far/nothing", "one"), filepath.Join(dir, "far", "nothing")},
		{"a link to a link", link("one", "two"), filepath.Join(dir, "far", "nothing")},
		{"out of a linked folder", link("short/../up", "three"), filepath.Join(dir, "far", "up")},
	} {
		got, err := Target(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got != tt.want {
			t.Errorf("%s: %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	if _, err := Target(link("round", "round")); err == nil {
		t.Error("links that lead round have no end")
	}
}

func TestAChangeLosesNothingThatOthersWriteMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	read := func(path string) ([]byte, error) { return Read(path, 100) }
	calls := 0
	add := func(line string, meanwhile ...string) error {
		return Change(path, read, func(old []byte) ([]byte, error) {
			if calls++; calls <= len(meanwhile) {
				must(t, os.WriteFile(path, []byte(meanwhile[calls-1]), 0o600))
			}
			return append(old, line...), nil
		})
	}
	must(t, add("one "))
	calls = 0
	must(t, add("mine ", "theirs ", "theirs again "))
	if got, err := os.ReadFile(path); err != nil || string(got) != "theirs again mine " || calls != 3 {
		t.Errorf("%q after %d calls, %v", got, calls, err)
	}
	calls = 0
	if err := add("mine", "1", "2", "3", "4", "5", "6"); !errors.Is(err, ErrBusy) {
		t.Errorf("others never stop: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "5" {
		t.Errorf("then it has %q, %v", got, err)
	}
	refused := errors.New("refused")
	if err := Change(path, read, func([]byte) ([]byte, error) { return []byte("lost"), refused }); err != refused {
		t.Error(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "5" {
		t.Errorf("a change that failed left %q, %v", got, err)
	}
}

func TestChangesAtTheSameTimeAreAllThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	read := func(path string) ([]byte, error) { return Read(path, 1000) }
	const writers, each = 4, 10
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				if err := Change(path, read, func(old []byte) ([]byte, error) { return append(bytes.Clone(old), 'x'), nil }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(path); err != nil || len(got) != writers*each {
		t.Errorf("%d of %d changes are there, %v", len(got), writers*each, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestANewFileTakesNobodysName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must(t, Create(path, []byte("one")))
	if err := Create(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name was taken twice: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestWhoLostALockLeavesTheNextOneAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	name := filepath.Join(filepath.Dir(path), ".file.lock")
	first, err := LockPath(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	second, err := LockPath(path)
	if err != nil {
		t.Fatal(err)
	}
	first()
	if _, err := os.Lstat(name); err != nil {
		t.Errorf("the lock of the second is gone with that of the first: %v", err)
	}
	second()
	if _, err := os.Lstat(name); err == nil {
		t.Error("the file of the lock stays")
	}
}
