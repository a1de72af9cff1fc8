package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	return newHeader(s.opts.Now(), s.opts.ID, s.opts.Cwd, s.opts.Parent, s.opts.Agent)
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

// Access is how to open a session that another process may have open.
type Access int

const (
	ToWrite Access = iota // as [Open]: a *[BusyError] if another process has it
	ToRead                // as [Read]: nothing can be appended
	ToCopy                // its branch in a new session, as [Session.CopyPath] makes it; the file itself is only read
	InTurn                // as [OpenWait]: when it is free
)

// OpenAs opens the session at path. waiting, which may be nil, is called once
// if there is a wait.
func OpenAs(ctx context.Context, path string, o Options, as Access, waiting func(*BusyError)) (*Session, error) {
	switch as {
	case ToRead:
		return Read(path)
	case ToCopy:
		return openCopy(path, o)
	case InTurn:
		return OpenWait(ctx, path, o, waiting)
	}
	return Open(path, o)
}

// OpenWait is [Open] for somebody who would rather wait than be told that
// another process has the session. waiting, which may be nil, is called once if
// there is a wait, with who has it. When ctx ends first, the error wraps why.
//
// There is no wait for a lock that can be given up, so it is tried again and
// again: soon at first, and at least twice a second.
func OpenWait(ctx context.Context, path string, o Options, waiting func(*BusyError)) (*Session, error) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		s, err := Open(path, o)
		var busy *BusyError
		if !errors.As(err, &busy) {
			return s, err
		}
		if waiting != nil {
			waiting(busy)
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for session %q: %w", path, context.Cause(ctx))
		case <-time.After(pause):
		}
	}
}

// openCopy makes a new session of the branch of the one at path, which may have a newer
// version: its entries are lines that a file of our version may have too, and types that
// only the newer one knows have no effect. The problems of the old file are those of the
// copy.
func openCopy(path string, o Options) (*Session, error) {
	s, err := Read(path)
	if err != nil {
		return nil, err
	}
	defer s.closeBodies()
	next, err := s.CopyPath(s.Leaf(), o)
	if err != nil {
		return nil, err
	}
	broken := slices.DeleteFunc(s.Problems(), func(p string) bool { return p == s.loader.newerProblem() })
	next.problems.texts = append(broken, next.problems.texts...) // that the version is newer is not true of the copy
	return next, nil
}

// WithLock does something to the file of a session that nobody has open, and keeps
// it from being opened meanwhile, where that can be: on Windows, where an open file
// can neither be moved nor removed, the lock is released first. The error is a
// *[BusyError] if a process has the session open, a *[NotSessionError] if it is none,
// or what do returns.
func WithLock(path string, o Options, do func() error) error {
	if _, err := ReadHeader(path); err != nil {
		return err
	}
	st := &store{path: path, lockDir: o.LockDir}
	if err := st.open(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		st.close()
		return do()
	}
	err := do()
	return errors.Join(err, st.close())
}

// longestName is how long the name of a folder may be on the file systems there
// are, in bytes.
const longestName = 255

// FolderName is the name of the folder for sessions started in cwd. Different
// directories may have the same one; the header tells them apart. One that
// would be too long is cut, and ends with a sum of the directory.
func FolderName(cwd string) string {
	rest := cwd
	if rest != "" && (rest[0] == '/' || rest[0] == '\\') {
		rest = rest[1:]
	}
	name := strings.NewReplacer("/", "-", "\\", "-", ":", "-").Replace(rest)
	if len(name)+len("----") > longestName {
		sum := sha256.Sum256([]byte(cwd))
		end := "-" + hex.EncodeToString(sum[:8])
		name = strings.ToValidUTF8(name[:longestName-len("----")-len(end)], "") + end
	}
	return "--" + name + "--"
}

// Playback goes through a recorded session as it came about, entry by entry, on all its
// branches: before each entry the session is what it was then, with the entries that were
// there and the leaf that the new one hangs on. It is for one goroutine; others may read the
// session meanwhile.
type Playback struct {
	s    *Session
	all  []*Entry
	next int // index of the entry to come
}

// NewPlayback goes back to the beginning of a session that is open for reading only, from
// [Read] or of a copy that nobody else uses. The session is empty until [Playback.Next].
func NewPlayback(s *Session) *Playback {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readOnly = true
	p := &Playback{s: s, all: clipped(s.tree.entries)}
	s.tree.entries = p.all[:0:0]
	s.tree.moveTo(nil)
	return p
}

// Session returns the session, as it is at this point.
func (p *Playback) Session() *Session { return p.s }

// Next returns the entry that comes next, or nil at the end. The session has its entries up
// to there and not the entry itself; [Playback.Add] adds it.
func (p *Playback) Next() *Entry {
	if p.next == len(p.all) {
		return nil
	}
	e := p.all[p.next]
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if t := &p.s.tree; t.leaf != e.parent {
		t.moveTo(e.parent)
	}
	return e
}

// Add adds the entry that Next returned, and makes it the leaf.
func (p *Playback) Add() {
	e := p.all[p.next]
	p.next++
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	t := &p.s.tree
	path := t.path()
	t.entries = p.all[:p.next:p.next]
	t.leaf, t.branch = e, append(t.branch[:len(path)], e)
}

// Close closes the file that bodies of entries are read from. What was not read by then
// cannot be read any more.
func (p *Playback) Close() { p.s.closeBodies() }
