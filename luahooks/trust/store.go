package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// maxStore is far above what thousands of projects need.
const maxStore = 8 << 20

// Data is what a store holds.
type Data struct {
	Version  int                 `json:"version"`
	Projects map[string]*Project `json:"projects,omitempty"` // by absolute directory
	Pending  map[string]Mark     `json:"pending,omitempty"`  // by absolute path
}

// Project is what a person decided about one directory.
type Project struct {
	Never bool              `json:"never,omitempty"` // nothing of it runs, and nobody is asked
	Files map[string]string `json:"files,omitempty"` // absolute path → SHA-256
}

// Mark is a file that changed while tools could have done it. Old is in force
// until a person approves New.
type Mark struct {
	Old   string    `json:"old,omitempty"` // SHA-256; empty: there was no such file
	New   string    `json:"new,omitempty"` // empty: there is none any more
	Real  string    `json:"real,omitempty"`
	Scope string    `json:"scope,omitempty"` // of a hook; empty for what is none
	Since time.Time `json:"since"`
}

// Store is trust.json and what belongs to it. Its methods may be called from any
// goroutine, and by several processes for the same directory.
type Store struct {
	dir string

	mu     sync.Mutex
	data   Data
	known  []byte // the file as it was last read or written here; nil: there was none
	broken bool   // the file cannot be understood
}

// Open reads the store of an agent directory. The store is usable also with an
// error, which says why nothing is trusted. What does not exist is empty.
func Open(agentDir string) (*Store, error) {
	s := &Store{dir: agentDir}
	s.data = empty()
	raw, err := readStore(s.Path())
	if err == nil && raw != nil {
		s.known = raw
		s.data, err = parseData(raw)
	}
	if err != nil {
		s.broken, s.data = true, empty()
		return s, fmt.Errorf("read %s: %w; nothing in it counts until `pi trust` has written it anew", s.Path(), err)
	}
	return s, nil
}

// Path is the file of the approvals.
func (s *Store) Path() string { return filepath.Join(s.dir, "trust.json") }

// Exists reports whether the agent directory is there.
func (s *Store) Exists() bool {
	_, err := os.Stat(s.dir)
	return err == nil
}

// Dir is the directory of what belongs to them.
func (s *Store) Dir() string { return filepath.Join(s.dir, "trust") }

func empty() Data {
	return Data{Version: 1, Projects: map[string]*Project{}, Pending: map[string]Mark{}}
}

// readStore returns nil for a file that does not exist.
func readStore(path string) ([]byte, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, reasonOf(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("others may write to it (mode %04o)", info.Mode().Perm())
	}
	return readMost(f, maxStore)
}

// parseData reads the bytes of a store and accepts nothing that it does not
// understand whole.
func parseData(raw []byte) (Data, error) {
	d := empty()
	d.Version = 0
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return empty(), fmt.Errorf("not what pi writes: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return empty(), errors.New("not what pi writes: something follows it")
	}
	if d.Version != 1 {
		return empty(), fmt.Errorf("version %d is not known", d.Version)
	}
	if err := d.check(); err != nil {
		return empty(), err
	}
	return d, nil
}

func (d *Data) check() error {
	for dir, p := range d.Projects {
		if !isPath(dir) || p == nil {
			return fmt.Errorf("project %q is no absolute path", dir)
		}
		for path, sum := range p.Files {
			if !isPath(path) || !isSum(sum) {
				return fmt.Errorf("file %q: a path and its SHA-256 are expected", path)
			}
		}
	}
	for path, m := range d.Pending {
		if !isPath(path) || m.Old != "" && !isSum(m.Old) || m.New != "" && !isSum(m.New) {
			return fmt.Errorf("pending %q: a path and hashes are expected", path)
		}
	}
	if d.Projects == nil {
		d.Projects = map[string]*Project{}
	}
	if d.Pending == nil {
		d.Pending = map[string]Mark{}
	}
	return nil
}

func isPath(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

// Unreadable stands for the hash of a file that is there and cannot be read.
const Unreadable = "unreadable"

func isSum(sum string) bool {
	b, err := hex.DecodeString(sum)
	return sum == Unreadable || err == nil && len(b) == sha256.Size
}

// Sum is the SHA-256 of a file's bytes, in hexadecimal.
func Sum(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}

// Approved returns the hash that is approved for a file of a project; "" if none.
func (s *Store) Approved(project, path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.data.Projects[project]
	if p == nil || p.Never {
		return ""
	}
	return p.Files[path]
}

// Files returns the approvals of a project: path → hash.
func (s *Store) Files(project string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.data.Projects[project]; p != nil {
		return maps.Clone(p.Files)
	}
	return nil
}

// Never reports whether a project is not to be asked about.
func (s *Store) Never(project string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.data.Projects[project]
	return p != nil && p.Never
}

// Pending returns the marks.
func (s *Store) Pending() map[string]Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.data.Pending)
}

// Project returns the record of a project, made if need be.
func (d *Data) Project(dir string) *Project {
	p := d.Projects[dir]
	if p == nil {
		p = &Project{}
		d.Projects[dir] = p
	}
	if p.Files == nil {
		p.Files = map[string]string{}
	}
	return p
}

// Change edits the store: read, edit and write happen under a lock that other
// processes respect, so that nobody's approval is lost. With guarded, a file that
// somebody else wrote meanwhile is not read: the edit begins with what this
// process knows, and the foreign bytes are put aside (see [Store.Tampered]).
func (s *Store) Change(guarded bool, edit func(*Data)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := s.lock()
	if err != nil {
		return fmt.Errorf("write %s: %w", s.Path(), err)
	}
	defer unlock()
	if err := s.merge(guarded); err != nil {
		return fmt.Errorf("write %s: %w", s.Path(), err)
	}
	next := s.data.clone()
	edit(&next)
	raw, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", s.Path(), err)
	}
	raw = append(raw, '\n')
	if err := writeFile(s.Path(), raw, true); err != nil {
		return fmt.Errorf("write %s: %w", s.Path(), err)
	}
	s.data, s.known, s.broken = next, raw, false
	return nil
}

// merge brings the data in line with the file, which another process may have
// written. A file that cannot be understood is put aside. The locks are held.
func (s *Store) merge(guarded bool) error {
	raw, err := readStore(s.Path())
	if err == nil && !s.broken && bytes.Equal(raw, s.known) && (raw == nil) == (s.known == nil) {
		return nil
	}
	if guarded {
		return s.aside("changed")
	}
	if err == nil && raw == nil {
		s.data = empty()
		return nil
	}
	if err == nil {
		var d Data
		if d, err = parseData(raw); err == nil {
			s.data = d
			return nil
		}
	}
	return s.aside("damaged")
}

// aside renames the file, under a name that is free.
func (s *Store) aside(why string) error {
	if _, err := os.Lstat(s.Path()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.%s-%d", s.Path(), why, n)
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(s.Path(), to)
		}
	}
}

func (d *Data) clone() Data {
	c := Data{Version: d.Version, Projects: map[string]*Project{}, Pending: maps.Clone(d.Pending)}
	if c.Pending == nil {
		c.Pending = map[string]Mark{}
	}
	for dir, p := range d.Projects {
		c.Projects[dir] = &Project{Never: p.Never, Files: maps.Clone(p.Files)}
	}
	return c
}

// Sum is the hash of the file as this process knows it; "" without one.
func (s *Store) Sum() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		return ""
	}
	return Sum(s.known)
}

// KeepKnown keeps a copy of the file as this process knows it.
func (s *Store) KeepKnown() error {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	if known == nil {
		return nil
	}
	_, err := s.Keep(known)
	return err
}

// Tampered returns the hash of the file if it is not what this process knows,
// and keeps a copy of it.
func (s *Store) Tampered() (sum string, tampered bool) {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	raw, err := readStore(s.Path())
	switch {
	case err != nil:
		return Unreadable, true
	case raw == nil:
		return "", known != nil
	case known != nil && bytes.Equal(raw, known):
		return "", false
	}
	sum, err = s.Keep(raw)
	if err != nil {
		sum = Sum(raw)
	}
	return sum, true
}

// MarksOnDisk returns the marks of the file if somebody else wrote it last. They
// are good for holding something back, for nothing else.
func (s *Store) MarksOnDisk() map[string]Mark {
	s.mu.Lock()
	known := s.known
	s.mu.Unlock()
	raw, err := readStore(s.Path())
	if err != nil || raw == nil || bytes.Equal(raw, known) {
		return nil
	}
	d, err := parseData(raw)
	if err != nil {
		return nil
	}
	return d.Pending
}

// Refresh reads the file again, for a program that has not relied on it yet.
func (s *Store) Refresh() {
	fresh, _ := Open(s.dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.known, s.broken = fresh.data, fresh.known, fresh.broken
}

// Restore makes the kept copy sum ("" for no file) what this process knows, as if
// it stood in the file, and marks the file as pending. It is for a store that was
// written while it should not have been.
func (s *Store) Restore(sum string) error {
	d := empty()
	if sum != "" {
		raw, err := s.Kept(sum)
		if err != nil {
			return err
		}
		if d, err = parseData(raw); err != nil {
			return err
		}
	}
	s.mu.Lock()
	now := ""
	if s.known != nil {
		now = Sum(s.known)
		if kept, err := s.Keep(s.known); err == nil {
			now = kept
		}
	}
	s.data, s.known, s.broken = d, nil, false
	s.mu.Unlock()
	return s.Change(true, func(d *Data) { d.Pending[s.Path()] = Mark{Old: sum, New: now, Since: time.Now().UTC()} })
}

// OnlyMarks returns the marks of the kept copy sum, if nothing else in it differs
// from what this process knows, and none of its marks are missing.
func (s *Store) OnlyMarks(sum string) (marks map[string]Mark, ok bool) {
	raw, err := s.Kept(sum)
	if err != nil {
		return nil, false
	}
	other, err := parseData(raw)
	if err != nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, m := range s.data.Pending {
		if other.Pending[path].Old != m.Old {
			return nil, false
		}
	}
	same := maps.EqualFunc(s.data.Projects, other.Projects, func(a, b *Project) bool {
		return a.Never == b.Never && maps.Equal(a.Files, b.Files)
	})
	return other.Pending, same
}

// Accept takes over what the kept copy sum approves, as the person decided who
// was shown it.
func (s *Store) Accept(sum string) error {
	raw, err := s.Kept(sum)
	if err != nil {
		return err
	}
	other, err := parseData(raw)
	if err != nil {
		return err
	}
	return s.Change(true, func(d *Data) {
		for dir, p := range other.Projects {
			mine := d.Project(dir)
			mine.Never = p.Never
			maps.Copy(mine.Files, p.Files)
		}
	})
}

func reasonOf(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
