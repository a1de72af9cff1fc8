package trust

import (
	"fmt"
	"maps"
	"path/filepath"
)

// A client that writes files for tools, as an editor does, is no process of theirs, so that
// nobody knows when it is done: it may write again long after its answer. What it was given
// to write counts as a tool's until the session ends, wherever a gate is a link to it.

// clientFiles are the files that tools wrote through a client in this session. The zero
// value is ready.
type clientFiles struct {
	real   map[string]bool // with symbolic links resolved
	window *openWindow     // the last one in which tools wrote one; nil: none was
}

// NoteClientWrites notes that a client writes the file at path for a tool. It is called
// before the write, so that the client cannot be faster, and after it, for only then a new
// file has a real path.
func (g *Guard) NoteClientWrites(path string) {
	s := g.lock()
	defer g.mu.Unlock()
	if s.clients.real == nil {
		s.clients.real = map[string]bool{}
	}
	s.clients.real[realOf(path)] = true
	if s.window != nil {
		s.clients.window = s.window
	}
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

// wrote reports whether a client was given a file to write that c leads to, or led to.
func (f *clientFiles) wrote(c change) bool { return f.real[c.is.real] || f.real[c.was.real] }

// withholdOfClients withholds what clients changed since the last look, be it that no tool ran.
func (s *state) withholdOfClients() {
	w := s.clients.window
	if w == nil {
		return
	}
	paths := maps.Clone(w.scopes)
	for dir, scope := range w.dirs {
		for _, path := range listLua(dir).files {
			if _, known := paths[path]; !known {
				paths[path] = scope
			}
		}
	}
	maps.DeleteFunc(paths, func(path string, scope Scope) bool {
		return scope == scopeInstructions || !s.clients.real[realOf(path)] && !s.clients.real[w.base[path].real]
	})
	for _, c := range s.ledger.changed(paths, w) {
		switch h := s.ledger.withheld[c.path]; {
		case h != nil && h.old.same(c.is):
			s.ledger.release(c.path)
		case h != nil:
			h.now, h.marked = c.is, true
		default:
			if !c.was.exists() && c.was.Err == nil {
				c.was.Err = fmt.Errorf("%s is %w", c.path, ErrNotApproved)
			}
			s.news.noteBegan(s.home.pending(c.path, s.ledger.withhold(c, true)))
		}
	}
	s.writeMarks()
}
