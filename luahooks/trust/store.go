package trust

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pi/internal/safefile"
)

// Store is trust.json and what belongs to it. Its methods may be called from any
// goroutine, and by several processes for the same directory.
type Store struct {
	dir string

	mu    sync.Mutex
	data  Data
	known []byte // the file as it was last read or written here; nil: there was none
	doubt error  // why nothing that was there counts

	// TestOnlyFails is the error of every write.
	TestOnlyFails error
}

// Open reads the store of an agent directory. The store is usable also with an
// error, which says what of it does not count. What does not exist is empty.
func Open(agentDir string) (*Store, error) {
	s := &Store{dir: agentDir, data: empty()}
	r := s.examine()
	if r.err != nil || r.foreign { // or somebody is writing just now
		if unlock, err := s.lock(); err == nil {
			r = s.examine()
			unlock()
		}
	}
	if r.err != nil {
		s.doubt = r.err
		return s, fmt.Errorf("%w; nothing in it counts until `pi trust` has written it anew", r.err)
	}
	s.data, s.known = r.data, r.raw
	if r.foreign {
		s.data.Pending[s.Path()] = Mark{New: s.keepForeign(), Since: now()}
		return s, fmt.Errorf("%w; what it held before stays in force", r.why)
	}
	return s, nil
}

// Path is the file of the approvals.
func (s *Store) Path() string { return filepath.Join(s.dir, "trust.json") }

// Dir is the directory of what belongs to them.
func (s *Store) Dir() string { return filepath.Join(s.dir, "trust") }

// copyPath is the second copy of the file. A file that is not what its copy is
// was written by somebody else, or the copy was.
func (s *Store) copyPath() string { return filepath.Join(s.Dir(), "copy") }

// Exists reports whether the agent directory is there.
func (s *Store) Exists() bool {
	_, err := os.Stat(s.dir)
	return err == nil
}

// Doubt is why nothing counts of what the store held, nil in ordinary life: what
// was in force can then not be known.
func (s *Store) Doubt() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt
}

// record is what the file and its copy say together.
type record struct {
	data    Data
	raw     []byte // nil: there is none
	foreign bool   // the file is not what was written; data is that of the copy
	why     error  // it is foreign
	err     error  // nothing counts
}

// examine reads both files. An interrupted write, which leaves the copy one step
// ahead, is told from one of somebody else by the hash of the file before.
func (s *Store) examine() record {
	if err := s.checkFolder(); err != nil {
		return record{err: err}
	}
	file, copied := readStore(s.Path()), readStore(s.copyPath())
	switch {
	case copied.err != nil:
		return record{err: fmt.Errorf("read %s: %w", s.copyPath(), copied.err)}
	case file.raw == nil && file.err == nil && copied.raw == nil:
		return record{data: empty(), err: s.missing()}
	case copied.raw == nil && file.err != nil:
		if d, err := s.earlier(file.raw); err == nil {
			return record{data: d, raw: file.raw}
		}
		return record{err: fmt.Errorf("read %s: %w", s.Path(), file.err)}
	case copied.raw == nil:
		return record{err: fmt.Errorf("read %s: its copy %s is gone", s.Path(), s.copyPath())}
	case bytes.Equal(file.raw, copied.raw) && file.err == nil, (file.err == nil || file.raw != nil) && copied.data.Prev == sumOf(file.raw):
		return record{data: copied.data, raw: copied.raw}
	case file.err != nil:
		return record{data: copied.data, raw: copied.raw, foreign: true, why: fmt.Errorf("read %s: %w", s.Path(), file.err)}
	case file.raw == nil:
		return record{data: copied.data, raw: copied.raw, foreign: true, why: fmt.Errorf("%s was removed", s.Path())}
	}
	return record{err: fmt.Errorf("read %s: it is not what %s says", s.Path(), s.copyPath())}
}

// missing is why a store that is not there cannot be that of a new person: there
// was one. The directory alone says nothing, for it is made before the first store is
// written, and version 1 wrote none before something was approved.
func (s *Store) missing() error {
	if _, err := os.Lstat(s.witness()); err == nil || s.hasEarlierWindow() {
		return fmt.Errorf("%s is gone, although there was one", s.Path())
	}
	return nil
}

// earlier reads a store that version 1 wrote, which had no copy and no witness. One
// with a window that was left is not believed: what was in force is told there in
// another form.
func (s *Store) earlier(raw []byte) (Data, error) {
	if err := s.missing(); err != nil {
		return empty(), err
	}
	return parseVersion(raw, 1)
}

// hasEarlierWindow reports whether there is a window of version 1.
func (s *Store) hasEarlierWindow() bool {
	names, _ := filepath.Glob(filepath.Join(escapeGlob(s.Dir()), "window-*"))
	return len(names) > 0
}

// witness is a file beside the store, in a directory of something else, that says
// that there is one: who removes the store by its name leaves it.
func (s *Store) witness() string { return filepath.Join(s.dir, "locks", "trust.json.exists") }

// testify makes sure that the witness is there.
func (s *Store) testify() error {
	if _, err := os.Lstat(s.witness()); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.witness()), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.witness(), nil, 0o600)
}

// checkFolder says why the agent directory cannot hold what is believed.
func (s *Store) checkFolder() error {
	info, err := os.Stat(s.dir)
	if err != nil {
		return nil // there is nothing to believe either
	}
	if why := OthersMayChange(info); why != "" {
		return fmt.Errorf("read %s: its folder %s", s.Path(), why)
	}
	return nil
}

// stored is one of the files; raw is nil if it does not exist.
type stored struct {
	raw  []byte
	data Data
	err  error
}

func readStore(path string) (r stored) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return stored{}
	}
	if err != nil {
		return stored{err: reasonOf(err)}
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return stored{err: err}
	}
	if why := groupMayChange(info); why != "" {
		return stored{err: errors.New(why)}
	}
	if r.raw, r.err = safefile.ReadMost(f, maxStore); r.err == nil {
		r.data, r.err = parseData(r.raw)
	}
	return r
}

// Sum is the SHA-256 of a file's bytes, in hexadecimal.
func Sum(code []byte) string {
	sum := sha256.Sum256(code)
	return hex.EncodeToString(sum[:])
}

// sumOf is Sum, and "" for no file.
func sumOf(raw []byte) string {
	if raw == nil {
		return ""
	}
	return Sum(raw)
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

// Spoken returns the instructions that changed, and when.
func (s *Store) Spoken() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.data.Spoken)
}

// Known returns what was in force when a window opened last.
func (s *Store) Known() Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.Known.clone()
}

// Change edits the store: read, edit and write happen under a lock that other
// processes respect, so that nobody's approval is lost. What stands in the file
// counts if it can be believed and mayCount allows it; otherwise what this process
// knows is edited, and the file is marked as pending.
func (s *Store) Change(mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(mayCount, edit); err != nil {
		return fmt.Errorf("write %s: %w", s.Path(), err)
	}
	return nil
}

func (s *Store) change(mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s.meet(mayCount)
	next := s.data.clone()
	edit(&next)
	raw, err := s.encode(next)
	if err != nil {
		return err
	}
	durable := !next.ApprovesLike(s.data)
	if err := s.replace(s.copyPath(), raw, durable); err != nil {
		return err
	}
	if err := s.testify(); err != nil { // not before: of what could not be written nothing is missed
		return err
	}
	if err := s.replace(s.Path(), raw, durable); err != nil {
		return err
	}
	s.data, s.known, s.doubt = next, raw, nil
	return nil
}

// meet takes over what other processes wrote, or marks it as pending. The locks are
// held.
func (s *Store) meet(mayCount func(mine, theirs Data) bool) {
	r := s.examine()
	if r.err == nil && !r.foreign && mayCount(s.data, r.data) {
		s.data, s.known = r.data, r.raw
		return
	}
	sum := s.keepForeign()
	if s.doubt != nil || sum == sumOf(s.known) { // there is nothing to compare it with, or just the copy is harmed
		return
	}
	if r.err == nil { // another program's window is one in any case
		for name, w := range r.data.Windows {
			if _, known := s.data.Windows[name]; !known {
				s.data.Windows[name] = w
			}
		}
	}
	if m, marked := s.data.Pending[s.Path()]; !marked || m.New != sum {
		s.data.Pending[s.Path()] = Mark{New: sum, Since: now()}
	}
}

// replace writes one of the files, also where a tool put a directory.
func (s *Store) replace(path string, raw []byte, durable bool) error {
	if s.TestOnlyFails != nil {
		return s.TestOnlyFails
	}
	err := safefile.Replace(path, raw, durable)
	if info, lerr := os.Lstat(path); err != nil && lerr == nil && info.IsDir() && putAside(path) == nil {
		err = safefile.Replace(path, raw, durable)
	}
	return err
}

// encode is the file that takes the place of the one that is there.
func (s *Store) encode(d Data) ([]byte, error) {
	old, err := safefile.Read(s.Path(), maxStore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err := s.aside(); err != nil {
			return nil, err
		}
	}
	d.Prev = sumOf(old)
	return d.encode()
}

// aside renames the file, under a name that is free.
func (s *Store) aside() error { return putAside(s.Path()) }

// putAside renames a harmed file or directory, under a name that is free.
func putAside(path string) error {
	for n := 1; n <= maxAside; n++ {
		to := fmt.Sprintf("%s.damaged-%d", path, n)
		if _, err := os.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := os.Rename(path, to); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil // there is nothing
	}
	return fmt.Errorf("%s is damaged, and so were %d before it", path, maxAside)
}

// maxAside is how many harmed files are kept.
const maxAside = 100

// heal makes directories of the store such as can be used, if a tool harmed them.
func (s *Store) heal() error {
	for _, dir := range []string{s.Dir(), filepath.Join(s.Dir(), "kept")} {
		info, err := os.Lstat(dir)
		if err == nil && !info.IsDir() {
			err = putAside(dir)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.MkdirAll(dir, 0o700)
		}
		if err == nil && info != nil && info.IsDir() && info.Mode().Perm() != 0o700 {
			err = os.Chmod(dir, 0o700)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Look takes over what other processes wrote, if mayCount allows it, or marks it as
// pending. It reports whether the files are not what was written last.
func (s *Store) Look(mayCount func(mine, theirs Data) bool) (harmed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.untouched() {
		return false
	}
	if unlock, err := s.lock(); err == nil {
		defer unlock()
	}
	s.meet(mayCount)
	return !s.untouched()
}

// untouched reports whether both files are what this process knows.
func (s *Store) untouched() bool {
	for _, path := range []string{s.Path(), s.copyPath()} {
		if raw := s.bytes(path); !bytes.Equal(raw, s.known) || (raw == nil) != (s.known == nil) {
			return false
		}
	}
	return true
}

// bytes are those of a file, nil if there is none; what cannot be read is like
// nothing that was written.
func (s *Store) bytes(path string) []byte {
	raw, err := safefile.Read(path, maxStore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []byte{}
	}
	return raw
}

// keepForeign keeps a copy of a file that somebody else wrote.
func (s *Store) keepForeign() (sum string) {
	raw, err := safefile.Read(s.Path(), maxStore)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return Unreadable
	}
	if _, err := s.Keep(raw); err != nil {
		return Unreadable
	}
	return Sum(raw)
}

// Foreign shows what a person has to know of a file that somebody else wrote: the
// approvals in force and those of the file, or its text if it has none.
func (s *Store) Foreign(sum string) (mine, theirs []byte) {
	s.mu.Lock()
	mine = approvalText(s.data)
	s.mu.Unlock()
	raw, err := s.Kept(sum)
	if err != nil {
		return mine, nil
	}
	if d, err := parseForeign(raw); err == nil {
		return mine, approvalText(d)
	}
	return mine, raw
}

// Accept takes over what the kept copy sum approves, as the person decided who
// was shown it: edit is done in the same step.
func (s *Store) Accept(sum string, mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	other := empty()
	if raw, err := s.Kept(sum); err == nil {
		other, _ = parseForeign(raw) // what cannot be read approves nothing
	}
	return s.Change(mayCount, func(d *Data) {
		if sum == "" {
			d.Projects = map[string]*Project{}
		}
		for dir, p := range other.Projects {
			mine := d.Project(dir)
			mine.Never = p.Never
			maps.Copy(mine.Files, p.Files)
		}
		edit(d)
	})
}

func reasonOf(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
