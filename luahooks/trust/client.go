package trust

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// A client that writes files for tools, as an editor does, is no process of theirs, so that
// nobody knows when it is done: it may write again long after its answer. What it was given
// to write counts as a tool's until the program ends, in every session, wherever a gate is a
// link to it, be it that the link was made later.

// ClientFiles are the files that tools wrote through clients while a program runs, for all
// guards of its sessions ([GuardOptions.Clients]). The zero value is ready. All methods may
// be called from any goroutine; none calls a guard.
type ClientFiles struct {
	mu    sync.Mutex
	given map[string]bool // paths that clients have
	real  map[string]bool // where these led at any look, with symbolic links resolved

	// The windows in which tools wrote them, together: what was active then, or was
	// approved since.
	base         map[string]Version
	scopes, dirs map[string]Scope
}

// NoteClientWrites notes that a client writes the file at path for a tool. It is called
// before the write, so that the client cannot be faster, and after it, for only then a new
// file has a real path.
func (g *Guard) NoteClientWrites(path string) {
	s := g.lock()
	defer g.mu.Unlock()
	s.clients.note(path, s.window)
}

// note adds a path that a client has, and what was active when the window w opened, if it
// is not nil.
func (f *ClientFiles) note(path string, w *openWindow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.given == nil {
		f.given, f.real = map[string]bool{}, map[string]bool{}
		f.base, f.scopes, f.dirs = map[string]Version{}, map[string]Scope{}, map[string]Scope{}
	}
	f.given[path], f.real[realOf(path)] = true, true
	if w != nil {
		maps.Copy(f.base, w.base)
		maps.Copy(f.scopes, w.scopes)
		maps.Copy(f.dirs, w.dirs)
	}
}

// noteActive notes that a user made a version of a file active.
func (f *ClientFiles) noteActive(path string, v Version) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.scopes[path]; known {
		f.base[path] = v
	}
}

// led is where the paths that clients have lead, now and at the looks before.
type led struct {
	real  map[string]bool
	files []fs.FileInfo // what is there now; other names of it are hard links
}

// look looks where the paths that clients have lead now: a tool may have put a link there.
func (f *ClientFiles) look() led {
	f.mu.Lock()
	defer f.mu.Unlock()
	var l led
	for path := range f.given {
		f.real[realOf(path)] = true
		if info, err := os.Stat(path); err == nil {
			l.files = append(l.files, info)
		}
	}
	l.real = maps.Clone(f.real)
	return l
}

// to reports whether a client has a path that leads, or led, to the file at path, or to where
// a version of that was.
func (l led) to(path string, versions ...Version) bool {
	if len(l.real) == 0 {
		return false
	}
	led := func(v Version) bool { return l.real[v.real] }
	if l.real[realOf(path)] || slices.ContainsFunc(versions, led) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(l.files, func(file fs.FileInfo) bool { return os.SameFile(file, info) })
}

// realOf is path with symbolic links resolved, as far as there is something.
func realOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(realOf(dir), filepath.Base(path))
	}
	return path
}

// window returns what the windows in which tools wrote through clients knew of the files of
// hooks that are there, which list finds in their folders, and of those that were.
func (f *ClientFiles) window(list func(dir string) listing) *openWindow {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := &openWindow{base: maps.Clone(f.base), scopes: maps.Clone(f.scopes), dirs: f.dirs}
	for dir, scope := range f.dirs {
		for _, path := range list(dir).files {
			if _, known := w.scopes[path]; !known {
				w.scopes[path] = scope
			}
		}
	}
	return w
}

// withholdOfClients withholds what clients changed since the last look, be it that no tool ran.
func (s *state) withholdOfClients() {
	l := s.clients.look()
	if len(l.real) == 0 || s.damaged != nil {
		return
	}
	w := s.clients.window(s.home.listIn)
	maps.DeleteFunc(w.scopes, func(path string, scope Scope) bool {
		return scope == scopeInstructions || !l.to(path, w.base[path], s.ledger.active[path])
	})
	for _, c := range s.ledger.changed(w.scopes, w) {
		switch h := s.ledger.pending[c.path]; {
		case h != nil && h.active.same(c.is):
			s.ledger.undo(c.path, c.is)
		case h != nil:
			h.now, h.marked = c.is, true
		default:
			if !c.was.exists() && c.was.Err == nil {
				c.was.Err = fmt.Errorf("%s is %w", c.path, ErrNotApproved)
			}
			s.withhold(c)
		}
	}
	s.writeMarks()
}
