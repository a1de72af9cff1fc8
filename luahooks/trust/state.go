package trust

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// state is everything that a Guard knows. Its methods, and those of its parts, are called with
// the mutex of the Guard locked.
type state struct {
	home      *home
	ledger    ledger
	approvals approvals
	others    programs
	clients   *ClientFiles

	notices Notices
	unasked []string             // paths that waited, and of which the user was told without a question
	spoken  map[string]time.Time // instructions that changed and were told of

	window    *openWindow               // nil while closed
	last      *openWindow               // the one that was closed last in this run; nil: none was
	mark      *Running                  // the file of the windows of this run; nil: there is none
	starting  int                       // processes that are being started for tools
	inRun     bool                      // the run in which the last window was opened goes on
	wrote     bool                      // a window was written to the store, with copies that Close may prune
	unwritten error                     // why the store does not have the marks of what is pending
	listed    map[string]stampedListing // directories of hooks, as the last look found them
	damaged   error                     // why it cannot be known what was active; nothing is, until a user decides
	seen      map[string]Version        // the files that there are, as they were shown of a damaged store
}

// readLocked returns the version of a file that is active. It reads a file that nobody has
// read yet, and withholds one that tools of this or another program may have changed: then
// the version before is returned, or an error with [ErrNotApproved] if there was none.
func (s *state) readLocked(path string) Version {
	if h := s.ledger.pending[path]; h != nil {
		if !h.active.exists() {
			return Version{Err: h.active.Err}
		}
		return h.active
	}
	if v, ok := s.ledger.active[path]; ok {
		return v
	}
	if s.damaged != nil {
		return Version{Err: fmt.Errorf("%s is %w: %w", path, ErrNotApproved, s.damaged), Sum: Unreadable}
	}
	if f, known := s.others.known.Was(path); known && f.Scope != string(scopeInstructions) {
		s.withholdIfChanged(path, f)                                                  // f is active whatever the disk says
		if _, read := s.ledger.active[path]; s.ledger.pending[path] == nil && !read { // there was none, and is none
			s.ledger.put(path, Version{Err: fs.ErrNotExist})
		}
		return s.readLocked(path)
	}
	v := s.home.onDisk(path)
	if v.exists() && s.window != nil && !s.window.had(path, v) {
		// It waits from now on, or nobody could approve it.
		h := s.ledger.withhold(change{path: path, was: Version{Err: fmt.Errorf("%s is %w: it was not there before the tools ran", path, ErrNotApproved)}, is: v}, true)
		return Version{Err: h.active.Err, Sum: Unreadable}
	}
	s.ledger.put(path, v)
	return v
}

// withholdIfChanged withholds a file whose version on the disk is not f, which was active.
// Active stays what this program read, or else f. Changed instructions are not withheld,
// the user is told of them.
func (s *state) withholdIfChanged(path string, f File) {
	if s.ledger.pending[path] != nil {
		return
	}
	if f.Scope == string(scopeInstructions) {
		if is := s.home.onDisk(path); is.Sum != f.Sum {
			s.noteInstructions(path)
		}
		return
	}
	if was, read := s.ledger.active[path]; read {
		if is := s.home.onDisk(path); !was.same(is) && (f.Sum != is.Sum || f.Real != is.real) {
			s.ledger.withhold(change{path, Scope(f.Scope), was, is}, true)
		}
		return
	}
	s.ledger.restore(path, Mark{Old: f.Sum, Kept: f.Kept, Real: f.Real, Scope: f.Scope, Since: time.Now().UTC()})
}

// A file that is pending is marked in the store, so that the next program withholds it
// too. Marks are written with everything else that this program knows: a
// change of the store writes all of them.

// writeMarks brings the marks of the store in line with what is pending, and writes the
// store only if that changes one.
func (s *state) writeMarks() {
	if s.home.store == nil || s.damaged != nil {
		return
	}
	have := s.home.store.Marks()
	want := Data{Pending: maps.Clone(have)}
	s.ledger.setMarks(&want)
	if !maps.EqualFunc(have, want.Pending, func(a, b Mark) bool { return a.Old == b.Old && a.New == b.New }) {
		_ = s.change(noEdit)
		return
	}
	s.ledger.noteMarked()
}

// noEdit edits nothing: a change writes the marks and the window in any case.
func noEdit(*Data) {}

// change edits the store, and writes with it the marks, the window and the changed
// instructions that this program knows of. Its error is also remembered for the user. It does
// not write a damaged store: that would be whole then, and nobody would be asked about what there
// is (see [state.acceptDamaged]).
func (s *state) change(edit func(*Data)) error {
	switch {
	case s.home.store == nil:
		return nil
	case s.damaged != nil:
		return fmt.Errorf("%w; nothing in it counts until `pi trust` has written it anew", s.damaged)
	}
	s.unwritten = s.home.store.Change(s.mayCount, func(d *Data) {
		s.ledger.setMarks(d)
		if s.mark != nil {
			w := s.mark.window
			if w.Groups = nil; s.window != nil {
				w.Groups = slices.Clone(s.window.groups)
			}
			d.Windows[s.mark.name] = w
		}
		maps.Copy(d.Spoken, s.spoken)
		edit(d)
	})
	if s.unwritten == nil {
		s.ledger.noteMarked()
	}
	return s.unwritten
}

// noteApproved makes the version that a user approved the one from before the tools ran, in
// the open window and in the store, so that no later look takes it for a change of a tool.
func (s *state) noteApproved(path string, v Version, scope Scope) {
	if s.window != nil {
		s.window.base[path] = v
	}
	s.clients.noteActive(path, v)
	f := s.ledger.fileOf(path, v, scope)
	_ = s.change(func(d *Data) {
		if _, known := d.Known.Was(path); known {
			d.Known.Files[path] = f
		}
	})
	if s.mark != nil {
		_ = s.mark.Approved(path, f) // others hold the file back longer if it fails
	}
}

// approve lets a version of a project's file run until the program ends. In the store it
// replaces the approval of another version of the file; a file that has none there gets none. In a
// package that is approved it gets one, and "" takes it away.
func (s *state) approve(path, sum string) error {
	if dir := s.home.packageOf(path); dir != "" {
		return s.approveInPackage(dir, path, sum)
	}
	s.approvals.run[path] = sum
	if s.home.store == nil || s.home.store.Files(s.home.project)[path] == "" {
		return nil
	}
	return s.change(func(d *Data) { d.Project(s.home.project).approve(map[string]string{path: sum}, "") })
}

// mayCount reports whether a store that another program wrote, theirs, may replace what this
// one knows, mine. While tools are at work one of them may have written it: then it may not
// approve other files, and has to have everything that mine has, the active versions and the
// marks of what this program withholds. What it has beside that must not be of files that mine
// knows otherwise; a file of a project needs approval in any case.
func (s *state) mayCount(mine, theirs Data) bool {
	if s.window == nil && !s.others.atWork {
		return true
	}
	if !mine.ApprovesLike(theirs) {
		return false
	}
	for path, f := range mine.Known.Files {
		if theirs.Known.Files[path] != f {
			return false
		}
	}
	for dir, scope := range mine.Known.Dirs {
		if theirs.Known.Dirs[dir] != scope {
			return false
		}
	}
	for path, m := range mine.Pending {
		their, marked := theirs.Pending[path]
		if h := s.ledger.pending[path]; !marked && h != nil && h.active.same(s.home.onDisk(path)) {
			continue // it is again what it was
		}
		if !marked || their.Old != m.Old || their.Kept != m.Kept {
			return false
		}
	}
	for path, f := range theirs.Known.Files {
		if was, known := mine.Known.Was(path); known && was.Sum != f.Sum {
			return false
		}
	}
	for path, m := range theirs.Pending {
		was, known := mine.Known.Was(path)
		_, marked := mine.Pending[path]
		if !marked && path != s.home.store.Path() && (known && was.Sum != m.Old || !known && Scope(m.Scope) != ScopeProject) {
			return false
		}
	}
	return true
}

// activeFiles returns, in the form of the store, the versions that are active while a window is
// open. It keeps copies of them, so that a later program can make them active again.
func (s *state) activeFiles(w *openWindow) Known {
	known := Known{Files: map[string]File{}, Dirs: map[string]string{}}
	for path, v := range w.base {
		if h := s.ledger.pending[path]; h != nil {
			v = h.active
		}
		known.Files[path] = s.ledger.fileOf(path, v, w.scopes[path])
	}
	for dir, scope := range w.dirs {
		known.Dirs[dir] = string(scope)
	}
	return known
}

// addKnown adds to to the files and directories of from of which it knows nothing.
func addKnown(to, from Known) {
	for path, f := range from.Files {
		if _, known := to.Was(path); !known {
			to.Files[path] = f
		}
	}
	for dir, scope := range from.Dirs {
		if to.Dirs[dir] == "" {
			to.Dirs[dir] = scope
		}
	}
}
