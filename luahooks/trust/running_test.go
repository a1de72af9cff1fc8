package trust

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestWindowsAreFoundWhenTheirProgramIsGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	r, err := s.Begin(Window{Groups: []int{4711}}, always, func(d *Data) { d.Known.Files["/a"] = File{Sum: Sum(nil)} })
	must(t, err)
	count := func(s *Store, own *Running, wantOpen, wantLeft int) {
		t.Helper()
		if open, left := s.OtherWindows(own); len(open) != wantOpen || len(left) != wantLeft {
			t.Errorf("open %v, left %v", open, left)
		}
	}
	count(s, r, 0, 0)
	count(open(t, dir), nil, 1, 0)
	r.Abandon()
	other := open(t, dir)
	count(other, nil, 0, 1)
	for _, harm := range []func(path string) error{
		func(path string) error { return os.Truncate(path, 0) },
		os.Remove,
		func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		must(t, harm(r.path()))
		count(open(t, dir), nil, 0, 1)
	}
	_, left := other.OtherWindows(nil)
	if f, known := other.Known().Was("/a"); !known || f.Sum != Sum(nil) {
		t.Errorf("known is %+v", other.Known())
	}
	everybody := func(int) bool { return true }
	w := left[r.Name()]
	if got := w.Living(everybody); !reflect.DeepEqual(got, []int{4711}) {
		t.Errorf("living are %v", got)
	}
	if w.Boot = "before"; len(w.Living(everybody)) != 0 {
		t.Error("the groups of another start of the machine live")
	}
}

func TestTheFileOfAWindowIsPutBack(t *testing.T) {
	for name, harm := range map[string]func(path string) error{
		"removed":   os.Remove,
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"rewritten": func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 18)), 0o600) },
		"replaced":  func(path string) error { return errors.Join(os.Rename(path, path+"x"), os.WriteFile(path, nil, 0o600)) },
		"a folder":  func(path string) error { return errors.Join(os.Remove(path), os.MkdirAll(path+"/x", 0o700)) },
		"forbidden": func(path string) error { return os.Chmod(path, 0) },
		"all":       func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		dir := t.TempDir()
		s := open(t, dir)
		r, err := s.Begin(Window{}, always, func(*Data) {})
		must(t, err)
		must(t, harm(r.path()))
		must(t, r.Restore())
		must(t, s.Change(never, func(*Data) {}))
		if open, left := open(t, dir).OtherWindows(nil); len(open) != 1 || len(left) != 0 {
			t.Errorf("%s: open %v, left %v", name, open, left)
		}
		r.End()
	}
}

// FuzzTheFileOfAWindowSaysNothing holds that a window is open and what it is,
// whatever a tool writes into its file: the store knows of it.
func FuzzTheFileOfAWindowSaysNothing(f *testing.F) {
	for _, seed := range []string{"", "{}", "null", `{"groups":[]}`, `{"groups":[1],"boot":"x","asks":true}`, "\x00\xff", `{"groups":`} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, said []byte, lives bool) {
		dir := t.TempDir()
		s, err := Open(dir)
		must(t, err)
		r, err := s.Begin(Window{Groups: []int{4711}}, always, func(*Data) {})
		must(t, err)
		must(t, os.WriteFile(r.path(), said, 0o600))
		if !lives {
			r.Abandon()
		}
		other, err := Open(dir)
		must(t, err)
		open, left := other.OtherWindows(nil)
		if !lives {
			open, left = left, open
		}
		if w, ok := open[r.Name()]; !ok || len(open) != 1 || len(left) != 0 || !reflect.DeepEqual(w, r.Window()) {
			t.Errorf("its file says %q, lives: %v; windows %+v, and %+v", said, lives, open, left)
		}
		if lives {
			r.Abandon()
		}
	})
}
