package trust

// openWindow is the window of this program: the time in which its tools could change
// files, and how the files were before.
type openWindow struct {
	base   map[string]Version // how files were; what is missing was not there or not known
	scopes map[string]Scope   // of the files in base
	dirs   map[string]Scope   // directories in which a new file would be a hook or a module
	file   *Running           // nil without a store
	groups []int              // processes that tools started
	idle   bool               // the run has ended; the window only waits for processes
}

// had reports whether v is the version of a file from when the window opened. A file that the
// window does not know was not there.
func (w *openWindow) had(path string, v Version) bool {
	base, ok := w.base[path]
	return ok && base.same(v) || !ok && !v.exists()
}

// running is the file of a window; nil: there is no window, or no file of it.
func (w *openWindow) running() *Running {
	if w == nil {
		return nil
	}
	return w.file
}
