package trust

// openWindow is the window of this program: the time in which its tools could change
// files, and how the files were before.
type openWindow struct {
	base   map[string]Version // how files were; what is missing was not there or not known
	scopes map[string]Scope   // of the files in base
	dirs   map[string]Scope   // directories in which a new file would be a hook or a module
	groups []int              // processes that tools started
	idle   bool               // the run has ended; the window only waits for processes
	left   bool               // processes have outlived their tools

	// What base, scopes and dirs were found with.
	places  Places
	parts   map[string]Scope
	changes int // of the ledger
}

// hides reports whether a file has other bytes than at the last look and the same stamp, as
// it has when a process writes into a page of it that is shared. w may be nil.
func (w *openWindow) hides(path string, is Version) bool {
	if w == nil {
		return false
	}
	base := w.base[path]
	return base.stamp.tells() && base.stamp == is.stamp && base.Sum != is.Sum
}

// had reports whether v is the version of a file from when the window opened. A file that the
// window does not know was not there.
func (w *openWindow) had(path string, v Version) bool {
	base, ok := w.base[path]
	return ok && base.same(v) || !ok && !v.exists()
}

// openMark is the mark of this program while its window is open; nil: there is no window, or no
// mark of it.
func (s *state) openMark() *Running {
	if s.window == nil {
		return nil
	}
	return s.mark
}
