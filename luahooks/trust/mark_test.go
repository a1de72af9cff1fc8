package trust

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWindowsAreFoundWhenTheirProgramIsGone(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	r, err := s.Begin(Window{Groups: []int{4711}}, always, func(d *Data) { d.Known.Files["/a"] = File{Sum: Sum(nil)} })
	must(t, err)
	count := func(s *Store, own *Running, wantOpen, wantLeft int) {
		t.Helper()
		open, left := 0, 0
		for _, w := range s.OtherWindows(own) {
			if w.lives {
				open++
			} else {
				left++
			}
		}
		if open != wantOpen || left != wantLeft {
			t.Errorf("open %d, left %d", open, left)
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
	left := other.OtherWindows(nil)
	if f, known := other.Known().Was("/a"); !known || f.Sum != Sum(nil) {
		t.Errorf("known is %+v", other.Known())
	}
	everybody := func(int) bool { return true }
	w := left[r.name]
	if got := w.living(everybody); !reflect.DeepEqual(got, []int{4711}) {
		t.Errorf("living are %v", got)
	}
	if w.Boot = "before"; len(w.living(everybody)) != 0 {
		t.Error("the groups of another start of the machine live")
	}
}

// FuzzTheFileOfAWindowIsBelievedOnlyAsItIsWritten holds that tools count as at work, and the
// groups that the store knows as theirs, whatever a tool writes into the file of a window, unless
// it is a whole mark.
func FuzzTheFileOfAWindowIsBelievedOnlyAsItIsWritten(f *testing.F) {
	for _, seed := range []string{"", "-", "-\n", "- NAME", "- NAME\n", "+ NAME\n", "- NAME\ngroup 7\n", "- NAME\ngroup 7", "- NAME\ngroup +7\n", "- NAME\ngroup 7\nx\n",
		"+ NAME\ngroup ", "- NAME\ngroup 7\ngroup ", "+ NAME\ngroup group ", "+ NAME\ngroup",
		"- NAME\nlive {\"path\":\"/a\"}\n", "- NAME\nlive {\"path\":\"a\"}\n", "- NAME\nlive {\"path\":\"/a\",\"x\":1}\n", "- running-other\n", "0 NAME\n", "\x00\xff"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, said string, lives bool) {
		dir := t.TempDir()
		s, err := Open(dir)
		must(t, err)
		r, err := s.Begin(Window{Groups: []int{4711}}, always, func(*Data) {})
		must(t, err)
		said = strings.ReplaceAll(said, "NAME", r.name)
		must(t, os.WriteFile(r.path(), []byte(said), 0o600))
		if !lives {
			r.Abandon()
		}
		other, err := Open(dir)
		must(t, err)
		windows := other.OtherWindows(nil)
		w, ok := windows[r.name]
		if !ok || len(windows) != 1 || w.lives != lives || !slices.Contains(w.Groups, 4711) {
			t.Errorf("its file says %q, lives: %v; windows %+v", said, lives, windows)
		}
		whole := regexp.MustCompile(`^[+-] ` + regexp.QuoteMeta(r.name) + `\n(live \{"path":"/.*\}\n|group -?[0-9]+\n)*(group )?$`)
		nobody := func(int) bool { return false }
		switch {
		case !whole.MatchString(said) && (!w.lost || !w.counts(nobody) || !w.mayLive(nobody)):
			t.Errorf("%q is believed: %+v", said, w)
		case strings.HasSuffix(said, "\ngroup ") && (!w.counts(nobody) || !w.mayLive(nobody)):
			t.Errorf("%q: nothing is being started: %+v", said, w)
		case !w.lost && w.rests != strings.HasPrefix(said, "-"):
			t.Errorf("%q: rests %v", said, w.rests)
		}
		if lives {
			r.Abandon()
		}
	})
}

func TestAMarkIsWrittenInPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	r, err := s.Begin(Window{}, always, func(*Data) {})
	must(t, err)
	defer r.End()
	file, err := os.Stat(r.path())
	must(t, err)
	head := r.name + "\n"
	for _, step := range []struct {
		do   func() error
		want string
	}{
		{func() error { return nil }, "+ " + head},
		{func() error { return r.Note(false, 7) }, "+ " + head + "group 7\n"},
		{func() error { return r.Note(false, 7, 8) }, "+ " + head + "group 7\ngroup 8\n"},
		{func() error { return r.Note(true) }, "+ " + head + "group 7\ngroup 8\ngroup "},
		{func() error { return r.Note(true, 9) }, "+ " + head + "group 7\ngroup 8\ngroup 9\ngroup "},
		{func() error { return r.Note(false, 10) }, "+ " + head + "group 7\ngroup 8\ngroup 9\ngroup 10\n"},
		{func() error { return r.Note(true) }, "+ " + head + "group 7\ngroup 8\ngroup 9\ngroup 10\ngroup "},
		{func() error { return r.Note(false) }, "+ " + head + "group 7\ngroup 8\ngroup 9\ngroup 10\n"},
		{r.Rest, "- " + head},
		{func() error { return r.Work(false, nil, map[string]File{"/a": {Sum: Sum(nil)}}) }, "+ " + head + `live {"path":"/a","sum":"` + Sum(nil) + "\"}\n"},
		{r.Rest, "- " + head + `live {"path":"/a","sum":"` + Sum(nil) + "\"}\n"},
		{func() error { return r.Work(true, []int{7}, map[string]File{"/a": {}}) }, "+ " + head + "live {\"path\":\"/a\"}\ngroup 7\ngroup "},
		{func() error { return r.Note(false) }, "+ " + head + "live {\"path\":\"/a\"}\ngroup 7\n"},
	} {
		must(t, step.do())
		text, err := os.ReadFile(r.path())
		must(t, err)
		if now, err := os.Stat(r.path()); string(text) != step.want || err != nil || !os.SameFile(file, now) {
			t.Errorf("the mark is %q, want %q in the same file, %v", text, step.want, err)
		}
		if m, err := parseMark(r.name, text); err != nil || m.text(r.name) != step.want {
			t.Errorf("read as %+v, %v", m, err)
		}
	}
	other := open(t, dir)
	if list := other.OtherWindows(nil); len(list) != 1 || !list[r.name].lives || len(list[r.name].live) != 1 || list[r.name].live["/a"].Sum != "" || list[r.name].rests {
		t.Errorf("others see %+v", list)
	}
}

// TestWhatPrunesLeavesAMarkThatIsMade holds that nobody who tidies up meanwhile takes a new mark
// for one that was left behind, and that one that was goes.
func TestWhatPrunesLeavesAMarkThatIsMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	made, err := s.Begin(Window{}, always, func(d *Data) { clear(d.Windows) }) // so that only its lock speaks for it
	must(t, err)
	defer made.End()
	named, err := s.Begin(Window{}, always, func(*Data) {})
	must(t, err)
	named.Abandon()
	fresh, left := filepath.Join(s.Dir(), "running-fresh"), filepath.Join(s.Dir(), "running-left")
	for _, path := range []string{fresh, left} {
		must(t, os.WriteFile(path, nil, 0o600))
	}
	old := time.Now().Add(-2 * pruneAge)
	for _, path := range []string{left, made.path(), named.path()} {
		must(t, os.Chtimes(path, old, old))
	}
	s.Prune()
	for path, want := range map[string]bool{made.path(): true, named.path(): true, fresh: true, left: false} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v", path, !want)
		}
	}
}
