package trust

import (
	"fmt"
	"io/fs"
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
	unasked []string             // paths that waited, and of which the person was told without a question
	spoken  map[string]time.Time // instructions that changed and were told of

	window    *openWindow               // nil while closed
	last      *openWindow               // the one that was closed last in this run; nil: none was
	mark      *Running                  // the file of the windows of this run; nil: there is none
	starting  int                       // processes that are being started for tools
	inRun     bool                      // the run in which the last window was opened goes on
	wrote     bool                      // a window was written to the store, with copies that Close may prune
	unwritten error                     // why the store does not have the marks of what is withheld
	listed    map[string]stampedListing // directories of hooks, as the last look found them
	damaged   error                     // why it cannot be known what was in force; nothing is, until a person decides
	seen      map[string]Version        // the files that there are, as they were shown of a damaged store
}

// readLocked returns the version of a file that is in force. It reads a file that nobody has
// read yet, and withholds one that tools of this or another program may have changed: then
// the version before is returned, or an error with [ErrNotApproved] if there was none.
func (s *state) readLocked(path string) Version {
	if h := s.ledger.withheld[path]; h != nil {
		if !h.old.exists() {
			return Version{Err: h.old.Err}
		}
		return h.old
	}
	if v, ok := s.ledger.files[path]; ok {
		return v
	}
	if s.damaged != nil {
		return Version{Err: fmt.Errorf("%s is %w: %w", path, ErrNotApproved, s.damaged), Sum: Unreadable}
	}
	if f, known := s.others.known.Was(path); known && f.Scope != string(scopeInstructions) {
		s.withholdIfChanged(path, f)                                                  // f is in force whatever the disk says
		if _, read := s.ledger.files[path]; s.ledger.withheld[path] == nil && !read { // there was none, and is none
			s.ledger.put(path, Version{Err: fs.ErrNotExist})
		}
		return s.readLocked(path)
	}
	v := s.home.onDisk(path)
	if v.exists() && s.window != nil && !s.window.had(path, v) {
		// It waits from now on, or nobody could approve it.
		h := s.ledger.withhold(change{path: path, was: Version{Err: fmt.Errorf("%s is %w: it was not there before the tools ran", path, ErrNotApproved)}, is: v}, true)
		return Version{Err: h.old.Err, Sum: Unreadable}
	}
	s.ledger.put(path, v)
	return v
}

// withholdIfChanged withholds a file whose version on the disk is not f, which was in force.
// In force stays what this program read, or else f. Changed instructions are not withheld,
// the person is told of them.
func (s *state) withholdIfChanged(path string, f File) {
	if s.ledger.withheld[path] != nil {
		return
	}
	if f.Scope == string(scopeInstructions) {
		if is := s.home.onDisk(path); is.Sum != f.Sum {
			s.noteInstructions(path)
		}
		return
	}
	if was, read := s.ledger.files[path]; read {
		if is := s.home.onDisk(path); !was.same(is) && (f.Sum != is.Sum || f.Real != is.real) {
			s.ledger.withhold(change{path, Scope(f.Scope), was, is}, true)
		}
		return
	}
	s.ledger.restore(path, Mark{Old: f.Sum, Kept: f.Kept, Real: f.Real, Scope: f.Scope, Since: time.Now().UTC()})
}
