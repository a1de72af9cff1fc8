package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options say where and how a session is kept.
type Options struct {
	Dir      string           // root of all sessions; "" = a new session is never saved
	LockDir  string           // where hints about lock holders are left; "" = nowhere
	Cwd      string           // working directory, for the header and the folder
	Parent   string           // path of the session that this one is forked from
	Now      func() time.Time // nil: time.Now
	SyncEach bool             // sync after each entry

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
}

// ErrReadOnly is returned for appending to a session opened by [Read], or one
// of a newer version.
var ErrReadOnly = errors.New("the session is open for reading only")

// newSession returns a session without a header and without a file.
func newSession(o Options) *Session {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Session{opts: o, tree: newTree()}
	s.loader = loader{tree: &s.tree, problems: &s.problems}
	s.journal = journal{syncEach: o.SyncEach, changes: &s.loader, problems: &s.problems}
	return s
}

func (s *Session) setFile(path string) {
	s.path, s.journal.store = path, newStore(path, s.opts.LockDir, s.opts.seams)
}

// New returns an empty session. Its file is made with the first message or the
// first [Session.Flush]; entries appended before that are kept back, and lost
// if neither comes.
func New(o Options) *Session {
	s := newSession(o)
	h := newHeader(s.opts)
	if o.Dir != "" {
		name := strings.NewReplacer(":", "-", ".", "-").Replace(h.Timestamp) + "_" + h.ID + ".jsonl"
		s.setFile(filepath.Join(o.Dir, FolderName(o.Cwd), name))
	}
	s.setHeader(h)
	return s
}

// setHeader makes a header the first line of a session that has no file yet.
func (s *Session) setHeader(h Header) {
	s.loader.header = h
	s.journal.add(h.raw)
}

// Open reads a session and locks it for appending. If path does not exist or
// is empty, the session is new and will be written there. The error is a
// *[BusyError] if another process has it, an *[UnwritableError] if it can only be
// read, a *[NotSessionError] if it is no session. A session of a newer version is opened for reading only.
func Open(path string, o Options) (*Session, error) {
	s := newSession(o)
	s.setFile(path)
	st := s.journal.store
	err := st.open()
	if errors.Is(err, fs.ErrNotExist) {
		s.setHeader(newHeader(s.opts))
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := s.load(st.f); err != nil {
		st.close()
		return nil, err
	}
	if s.readOnly {
		st.close()
		return s, nil
	}
	if s.loader.header.ID == "" {
		s.setHeader(newHeader(s.opts))
	}
	s.journal.checkLocked()
	return s, nil
}

// Read reads a session to show it. It takes no lock and never changes the file.
func Read(path string) (*Session, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := newSession(Options{})
	s.setFile(path)
	s.readOnly = true
	if err := s.load(f); err != nil {
		return nil, err
	}
	if s.loader.header.ID == "" {
		return nil, &NotSessionError{Path: path, Reason: "it is empty"}
	}
	return s, nil
}

// load reads the session's file, which may be empty. One of a newer version is read
// only.
func (s *Session) load(f *os.File) error {
	if err := s.loader.load(f, s.path, &s.journal.store.end); err != nil {
		return err
	}
	h := &s.loader.header
	s.readOnly = s.readOnly || h.Version > Version
	s.journal.wanted, s.journal.outdated = h.ID != "", h.Version == 1
	return nil
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

// Sync writes what is pending and waits until the disk has it. A sync that
// failed once leaves the session unsaved: nobody can tell what was lost.
func (s *Session) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readOnly {
		return nil
	}
	return s.journal.save(true)
}

// Unsaved returns why the file lacks part of the session, or nil.
func (s *Session) Unsaved() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.err()
}

// Close syncs and closes the file, which ends its lock. Entries that were kept
// back are dropped with it. The session can still be read.
func (s *Session) Close() error {
	err := s.Sync()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal.store == nil {
		return nil
	}
	s.readOnly = true
	if cerr := s.journal.store.close(); err == nil && cerr != nil {
		err = s.journal.saveError(cerr)
	}
	return err
}

// closeBodies closes the descriptor for bodies; those not read by then stay unread.
func (s *Session) closeBodies() {
	if s.loader.bodies != nil {
		s.loader.bodies.Close()
	}
}
