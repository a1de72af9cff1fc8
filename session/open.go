package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// New returns an empty session. Its file is made with the first message or the
// first [Session.Flush]; entries appended before that are kept back, and lost
// if neither comes.
func New(o Options) *Session {
	s := newSession(o)
	h := s.newHeader()
	if o.Dir != "" {
		name := strings.NewReplacer(":", "-", ".", "-").Replace(h.Timestamp) + "_" + h.ID + ".jsonl"
		s.setFile(filepath.Join(o.Dir, FolderName(o.Cwd), name))
	}
	s.setHeader(h)
	return s
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
		s.setHeader(s.newHeader())
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
		s.setHeader(s.newHeader())
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

// setFile makes the file at path that of the session. It touches no disk.
func (s *Session) setFile(path string) {
	s.path, s.journal.store = path, newStore(path, s.opts.LockDir, s.opts.seams)
}

// newHeader makes a header by the options.
func (s *Session) newHeader() Header {
	return newHeader(s.opts.Now(), s.opts.ID, s.opts.Cwd, s.opts.Parent)
}

// setHeader makes a header the first line of a session that has no file yet.
func (s *Session) setHeader(h Header) {
	s.loader.header = h
	s.journal.add(h.raw)
}

// load reads the session's file, which may be empty, and sets from its version whether
// it can be written to and has to be written anew.
func (s *Session) load(f *os.File) error {
	if err := s.loader.load(f, s.path, &s.journal.store.end); err != nil {
		return err
	}
	h := &s.loader.header
	s.readOnly = s.readOnly || h.Version > Version
	s.journal.wanted, s.journal.outdated = h.ID != "", h.Version == 1
	return nil
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
