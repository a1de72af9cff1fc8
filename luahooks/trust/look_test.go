package trust

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// later is a clock by which all files were changed long ago.
func later() time.Time { return time.Now().Add(time.Hour) }

func TestAStampTellsNothingOfWhatChangedAMomentAgo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a")
	must(t, os.WriteFile(path, nil, 0o600))
	info, err := os.Stat(path)
	must(t, err)
	_, _, changed, ok := inodeOf(info)
	if !ok {
		t.Skip("nothing tells when a file was changed")
	}
	wait := moment
	if changed.Nanosecond() == 0 {
		wait = longMoment
	}
	for after, want := range map[time.Duration]bool{-time.Hour: false, 0: false, wait - 1: false, wait: true} {
		if stampOf(info, changed.Add(after)).tells() != want {
			t.Errorf("%v after the change it tells something: %v", after, !want)
		}
	}
}

func TestALookReadsWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(at func(string) string) error
		unchanged bool
	}{
		"nothing":            {func(func(string) string) error { return nil }, true},
		"another file":       {func(at func(string) string) error { return os.WriteFile(at("hooks/b.lua"), nil, 0o644) }, true},
		"written":            {func(at func(string) string) error { return os.WriteFile(at("hooks/a.lua"), []byte("two"), 0o644) }, false},
		"removed":            {func(at func(string) string) error { return os.Remove(at("hooks/a.lua")) }, false},
		"its folder removed": {func(at func(string) string) error { return os.RemoveAll(at("hooks")) }, false},
		"made a folder": {func(at func(string) string) error {
			return errors.Join(os.Remove(at("hooks/a.lua")), os.Mkdir(at("hooks/a.lua"), 0o755))
		}, false},
		"its mode": {func(at func(string) string) error { return os.Chmod(at("hooks/a.lua"), 0o600) }, false},
		"its time put back": {func(at func(string) string) error {
			info, err := os.Stat(at("hooks/a.lua"))
			return errors.Join(err, os.WriteFile(at("hooks/a.lua"), []byte("two"), 0o644), os.Chtimes(at("hooks/a.lua"), info.ModTime(), info.ModTime()))
		}, false},
		"its folder a link": {func(at func(string) string) error {
			return errors.Join(os.Rename(at("hooks"), at("moved")), os.Symlink(at("moved"), at("hooks")))
		}, false},
		"its folder open to all": {func(at func(string) string) error { return os.Chmod(at("hooks"), 0o777) }, false},
	} {
		root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "one"})
		at := func(name string) string { return filepath.Join(root, "agent", name) }
		h := newHome(o)
		h.now = later
		was := h.onDisk(at("hooks/a.lua"))
		if !was.stamp.tells() {
			t.Skip("nothing tells when a file was changed")
		}
		missing := h.onDisk(at("hooks/none.lua"))
		must(t, c.change(at))
		if got := h.newLook().isUnchanged(at("hooks/a.lua"), was); got != c.unchanged {
			t.Errorf("%s: unchanged %v", name, got)
		}
		if !h.newLook().isUnchanged(at("hooks/none.lua"), missing) {
			t.Errorf("%s: what is not there changed", name)
		}
	}
}

func TestOfAFileOfAMomentAgoNothingIsBelieved(t *testing.T) {
	t.Parallel()
	root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "one"})
	h, path := newHome(o), filepath.Join(root, "agent/hooks/a.lua")
	h.now = func() time.Time { return time.Now().Add(-time.Hour) } // a file server's clock is ahead
	if was := h.onDisk(path); was.stamp.tells() || h.newLook().isUnchanged(path, was) {
		t.Error("it is not read again")
	}
}

func TestADirectoryIsReadAgainWhenAnEntryComesOrGoes(t *testing.T) {
	t.Parallel()
	write := func(path string) error { return os.WriteFile(path, nil, 0o600) }
	for name, c := range map[string]struct {
		before, change func(at func(string) string) error
		want           []string
	}{
		"nothing": {nil, func(func(string) string) error { return nil }, []string{"a.lua"}},
		"added":   {nil, func(at func(string) string) error { return write(at("b.lua")) }, []string{"a.lua", "b.lua"}},
		"removed": {nil, func(at func(string) string) error { return os.Remove(at("a.lua")) }, nil},
		"renamed": {nil, func(at func(string) string) error { return os.Rename(at("a.lua"), at("c.lua")) }, []string{"c.lua"}},
		"another directory in its place": {nil, func(at func(string) string) error {
			return errors.Join(os.Rename(at(""), at("")+"-old"), os.Mkdir(at(""), 0o700), write(at("b.lua")))
		}, []string{"b.lua"}},
		"added to a folder in it": {
			func(at func(string) string) error { return os.Mkdir(at("in"), 0o700) },
			func(at func(string) string) error { return write(at("in/b.lua")) },
			[]string{"a.lua", "in/b.lua"},
		},
		"added behind a link in it": {
			func(at func(string) string) error {
				return errors.Join(os.Mkdir(at("")+"-far", 0o700), os.Symlink(at("")+"-far", at("in")))
			},
			func(at func(string) string) error { return write(at("") + "-far/b.lua") },
			[]string{"a.lua", "in/b.lua"},
		},
	} {
		root, o := homeOf(t, map[string]string{"agent/hooks/a.lua": "one"})
		dir := filepath.Join(root, "agent/hooks")
		at := func(name string) string { return filepath.Join(dir, name) }
		g, err := NewGuard(o)
		must(t, err)
		g.state.home.now = later
		if c.before != nil {
			must(t, c.before(at))
		}
		g.state.list(dir)
		must(t, c.change(at))
		var want []string
		for _, file := range c.want {
			want = append(want, at(file))
		}
		if got := g.state.list(dir).files; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
