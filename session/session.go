package session

import (
	"sync"
	"sync/atomic"
	"time"
)

// Options say where and how a session is kept.
type Options struct {
	Dir      string           // root of all sessions; "" = a new session is never saved
	LockDir  string           // where hints about lock holders are left; "" = nowhere
	Cwd      string           // working directory, for the header and the folder
	ID       string           // of a new session, see [ValidID]; "": a fresh one
	Parent   string           // path of the session that this one is forked from
	Now      func() time.Time // nil: time.Now
	SyncEach bool             // sync after each entry

	// GitBranch returns the branch of git that Cwd is on now, "" if it is on none; nil: that
	// is not recorded.
	GitBranch func() string

	seams
}

// Session is a tree of entries and the file it lives in.
//
// One goroutine appends, moves the leaf, syncs and closes; any goroutine may
// read meanwhile. Lists that it returns are cut to length and capacity and
// never change, so a reader keeps what it saw.
type Session struct {
	opts Options
	path string // of the file; "" if the session is never saved

	// mu guards all that follows: an entry is in the tree and among the lines to be
	// written at the same moment.
	mu       sync.Mutex
	readOnly bool
	tree     tree
	loader   loader
	journal  journal
	problems problems

	watcher atomic.Pointer[func()] // see Watch
}

// Watch has f called after each change that added entries: they are in, nothing is
// locked, and the call is on the goroutine that added them. A call may also come where
// nothing was added. f takes the place of an earlier one; nil is none. Copies of the
// session are not watched.
func (s *Session) Watch(f func()) {
	if f == nil {
		s.watcher.Store(nil)
		return
	}
	s.watcher.Store(&f)
}

// tellWatcher is called, without the lock, when entries may have been added.
func (s *Session) tellWatcher() {
	if f := s.watcher.Load(); f != nil {
		(*f)()
	}
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.Header().ID }

// Cwd returns the directory the session was started in.
func (s *Session) Cwd() string { return s.Header().Cwd }

// Header returns the first line of the file.
func (s *Session) Header() Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loader.header
}

// File returns the path of the file, which may not exist yet; "" if the
// session is never saved.
func (s *Session) File() string { return s.path }

// ReadOnly reports whether appending is refused.
func (s *Session) ReadOnly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}
