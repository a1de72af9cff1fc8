package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
)

// The contents of a directory of hooks. The loader and the guard ask the same
// function, so that what is loaded is what was judged. A link to / must delay nobody,
// so there are limits: a directory with more hooks than that is not read at
// all, and of a folder in it with more, only those modules count that a hook names
// in its text, for they are judged one by one.
const (
	maxHooks = 20_000 // entries of the directory itself
	// MaxEntries is how many there may be below one folder in it.
	MaxEntries = 5_000
	maxWalked  = 20_000 // below all of them
	maxDeep    = 16
)

var errTooMany = errors.New("too many entries")

// hookEntries lists a directory of hooks by name, byte by byte, without what
// editors leave.
func hookEntries(dir string) ([]fs.DirEntry, error) {
	entries, err := someEntries(dir, maxHooks)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return Ignored(e.Name()) }), nil
}

// someEntries lists a directory by name, unless there are more than most. It does not wait for a
// named pipe in its place.
func someEntries(dir string, most int) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(most + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(entries) > most:
		return nil, fmt.Errorf("%w: more than %d", errTooMany, most)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	return entries, nil
}

// listing is the contents of a directory of hooks: Lua files, and the folders with
// too much in them to be listed.
type listing struct {
	files []string
	large []string
	flat  bool // it has neither folders nor links
}

// list is [home.listIn]. A directory that is flat and has the stamp of the last look is not read
// again: an entry that comes or goes changes it.
func (s *state) list(dir string) listing {
	is := stampAt(dir, s.home.now())
	if was, seen := s.listed[dir]; seen && was.stamp == is {
		return was.listing
	}
	l := s.home.listIn(dir)
	delete(s.listed, dir)
	if l.flat && is.tells() {
		s.listed[dir] = stampedListing{l, is}
	}
	return l
}

// stampedListing is what was in a directory when it had a stamp.
type stampedListing struct {
	listing listing
	stamp   stamp
}

// listLua lists the Lua files below a directory of hooks, symbolic links followed. Folders
// share a limit (maxWalked); those beyond it are in large. A directory that cannot be read
// has no files.
func listLua(dir string) (l listing) {
	entries, err := hookEntries(dir)
	if err != nil {
		if errors.Is(err, errTooMany) {
			l.large = append(l.large, dir)
		}
		return l
	}
	left := maxWalked
	l.flat = true
	for _, e := range entries {
		l.flat = l.flat && e.Type().IsRegular()
		path := filepath.Join(dir, e.Name())
		switch {
		case isDir(path, e):
			l.addFolder(path, &left)
		case strings.HasSuffix(e.Name(), ".lua"):
			l.files = append(l.files, path)
		}
	}
	return l
}

// addFolder adds the Lua files below a folder, and lowers left, how many entries may still be
// looked at. Of a folder with more than that, or than MaxEntries, it adds only init.lua.
func (l *listing) addFolder(dir string, left *int) {
	w := luaWalk{left: min(MaxEntries, *left)}
	before := w.left
	w.walk(dir, nil)
	if *left -= before - w.left; !w.large {
		l.files = append(l.files, w.files...)
		return
	}
	l.large = append(l.large, dir)
	if init := filepath.Join(dir, "init.lua"); isThere(init) {
		l.files = append(l.files, init)
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

type luaWalk struct {
	files []string
	left  int  // entries that may still be looked at
	large bool // there are more of them, or too many folders in each other
}

// walk adds the Lua files below dir to w.files, until it finds that there is too much. above
// are the directories on the way to dir: a link that leads back to one is not followed.
func (w *luaWalk) walk(dir string, above []fs.FileInfo) {
	here, err := os.Stat(dir)
	leadsBack := func(a fs.FileInfo) bool { return os.SameFile(a, here) }
	if err != nil || w.large || slices.ContainsFunc(above, leadsBack) {
		return
	}
	entries, err := someEntries(dir, w.left)
	if errors.Is(err, errTooMany) || len(above) > maxDeep {
		w.large = true
		return
	}
	w.left -= len(entries)
	above = append(above[:len(above):len(above)], here)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case Ignored(e.Name()):
		case isDir(path, e):
			w.walk(path, above)
		case strings.HasSuffix(e.Name(), ".lua"):
			w.files = append(w.files, path)
		}
	}
}

// isDir reports whether an entry is a directory, or a link to one.
func isDir(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Ignored reports whether a directory entry is an editor's, not a hook.
func Ignored(name string) bool {
	if name == "4913" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") {
		return true
	}
	for _, end := range []string{"~", ".swp", ".tmp", ".bak"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}
