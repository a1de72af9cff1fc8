package session

import (
	"bytes"
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
	mu   sync.Mutex
	opts Options

	header  Header
	entries []*Entry
	byID    map[string]*Entry // by the id in memory
	later   map[string]*Entry // by the id in the file, where it stood there before
	leaf    *Entry
	branch  []*Entry // root to leaf; nil: to be built

	store   *store // nil: never saved
	pending []byte // whole lines that are not in the file yet
	partial []byte // the beginning of a line that another program is writing
	started bool   // the file is wanted: what is appended is written at once
	unsaved error  // why pending could not be written
	synced  error  // a sync that failed; it is not undone by a later one

	readOnly   bool
	migrate    bool // the file is of version 1; the first write makes a new one
	lines      int  // lines in the file
	unreadable []int
	problems   []string
	badBody    map[*Entry]bool
	waiting    []*Entry // while loading: their parent was not read yet
	orphans    []*Entry // they name no parent, and do not say that they have none
	src        *source
	types      map[string]string
	slab       []Entry
	chunk      *strings.Builder // for text

	testOnlyBuffer int
}

// ErrReadOnly is returned for appending to a session opened by [Read], or one
// of a newer version.
var ErrReadOnly = errors.New("the session is open for reading only")

func newSession(o Options) *Session {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Session{opts: o, byID: map[string]*Entry{}, later: map[string]*Entry{},
		types: map[string]string{}, badBody: map[*Entry]bool{}}
}

// New returns an empty session. Its file is made with the first message or the
// first [Session.Flush]; entries appended before that are kept back, and lost
// if neither comes.
func New(o Options) *Session {
	s := newSession(o)
	s.begin()
	if o.Dir != "" {
		s.store = newStore(filepath.Join(o.Dir, FolderName(o.Cwd), fileName(s.header)), o)
	}
	return s
}

func (s *Session) begin() {
	s.header = newHeader(s.opts)
	s.pending = append(bytes.Clone(s.header.raw), '\n')
}

// Open reads a session and locks it for appending. If path does not exist or
// is empty, the session is new and will be written there. The error is a
// *[BusyError] if another process has it, an *[UnwritableError] if it can only be
// read, a *[NotSessionError] if it is no session. A session of a newer version is opened for reading only.
func Open(path string, o Options) (*Session, error) {
	s := newSession(o)
	s.store = newStore(path, o)
	err := s.store.open()
	if errors.Is(err, fs.ErrNotExist) {
		s.begin()
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if err := s.load(s.store.f, path); err != nil {
		s.store.close()
		return nil, err
	}
	if s.readOnly {
		s.store.close()
		return s, nil
	}
	s.noteLock()
	return s, nil
}

// Read reads a session to show it. It takes no lock and never changes the file.
func Read(path string) (*Session, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := newSession(Options{})
	s.readOnly, s.store = true, &store{path: path}
	if err := s.load(f, path); err != nil {
		return nil, err
	}
	if s.header.ID == "" {
		return nil, &NotSessionError{Path: path, Reason: "it is empty"}
	}
	return s, nil
}

// ID returns the id of the session.
func (s *Session) ID() string { return s.Header().ID }

// Cwd returns the directory the session was started in.
func (s *Session) Cwd() string { return s.Header().Cwd }

// Header returns the first line of the file.
func (s *Session) Header() Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.header
}

// File returns the path of the file, which may not exist yet; "" if the
// session is never saved.
func (s *Session) File() string {
	if s.store == nil {
		return ""
	}
	return s.store.path
}

// ReadOnly reports whether appending is refused.
func (s *Session) ReadOnly() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readOnly
}

// Leaf returns the id of the entry that the next one will hang on; "" in an
// empty session.
func (s *Session) Leaf() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaf == nil {
		return ""
	}
	return s.leaf.ID
}

// Entry returns the entry with an id, or nil.
func (s *Session) Entry(id string) *Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id]
}

// Entries returns all entries in the order of the file.
func (s *Session) Entries() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cut(s.entries)
}

// Branch returns the entries from the root to the leaf.
func (s *Session) Branch() []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path()
}

// Path returns the entries from the root to the one with the given id; nil if
// there is none.
func (s *Session) Path(id string) []*Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return pathTo(s.byID[id])
}

func (s *Session) path() []*Entry {
	if s.branch == nil {
		s.branch = pathTo(s.leaf)
	}
	return cut(s.branch)
}

func pathTo(e *Entry) []*Entry {
	n := 0
	for p := e; p != nil; p = p.parent {
		n++
	}
	path := make([]*Entry, n)
	for ; e != nil; e = e.parent {
		n--
		path[n] = e
	}
	return path
}

// cut keeps callers from writing into, or reading, what is appended later.
func cut(es []*Entry) []*Entry { return es[:len(es):len(es)] }
