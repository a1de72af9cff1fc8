package trust

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Store is trust.json and what belongs to it. Its methods may be called from any
// goroutine, and by several processes for the same directory.
type Store struct {
	disk folder

	mu    sync.Mutex // guards the fields below, which change together with the files
	data  Data
	known []byte   // the file as it was last read or written here; nil: there was none
	doubt error    // why nothing that was there counts
	seen  [2]stamp // of the file and its copy when they were known; they may tell nothing

	// TestOnlyFails is the error of every write.
	TestOnlyFails error
}

// Open reads the store of an agent directory. The store is usable also with an
// error, which tells which part of it does not count. One that does not exist is empty.
func Open(agentDir string) (*Store, error) {
	s := &Store{disk: folder{agentDir}, data: empty()}
	r := s.disk.examine()
	if r.err != nil || r.foreign { // or somebody is writing just now
		if unlock, err := s.disk.lock(); err == nil {
			r = s.disk.examine()
			unlock()
		}
	}
	if r.err != nil {
		s.doubt = r.err
		return s, fmt.Errorf("%w; nothing in it counts until `pi trust` has written it anew", r.err)
	}
	s.data, s.known = r.data, r.raw
	if r.foreign {
		s.data.Pending[s.Path()] = Mark{New: s.disk.keepForeign(), Since: now()}
		return s, fmt.Errorf("%w; what it held before stays in force", r.why)
	}
	return s, nil
}

// Path is the file of the approvals.
func (s *Store) Path() string { return s.disk.path() }

// Dir is the directory of what belongs to them.
func (s *Store) Dir() string { return s.disk.dir() }

// Exists reports whether the agent directory is there.
func (s *Store) Exists() bool {
	_, err := os.Stat(s.disk.agentDir)
	return err == nil
}

// Doubt is why nothing in the store counts, nil in ordinary life: then it cannot be known
// what was in force.
func (s *Store) Doubt() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt
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

// IsRefused reports whether a project is not to be asked about.
func (s *Store) IsRefused(project string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.data.Projects[project]
	return p != nil && p.Never
}

// Marks returns the marks of the files that are pending, by path; that of the store itself is
// under [Store.Path].
func (s *Store) Marks() map[string]Mark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.data.Pending)
}

// ChangedInstructions returns the instructions that changed while tools ran, by path, and
// when. They are those that no person was told of at a start yet.
func (s *Store) ChangedInstructions() map[string]time.Time {
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
// processes respect, so that nobody's approval is lost. The file counts if it
// can be believed and mayCount allows it; otherwise the data of this process is edited,
// and the file is marked as pending.
func (s *Store) Change(mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(mayCount, edit); err != nil {
		return fmt.Errorf("write %s: %w", s.Path(), err)
	}
	return nil
}

// change is Change without the lock mu. The copy is written first and the witness before the
// file, so that an interrupted write is known as one (see folder.examine).
func (s *Store) change(mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	unlock, err := s.disk.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s.reconcile(mayCount)
	next := s.data.clone()
	edit(&next)
	raw, err := s.disk.encode(next)
	if err != nil {
		return err
	}
	durable := !next.ApprovesLike(s.data)
	if s.TestOnlyFails != nil {
		return s.TestOnlyFails
	}
	if err := s.disk.replace(s.disk.copyPath(), raw, durable); err != nil {
		return err
	}
	if err := s.disk.writeWitness(); err != nil { // not before: of what could not be written nothing is missed
		return err
	}
	if err := s.disk.replace(s.Path(), raw, durable); err != nil {
		return err
	}
	s.data, s.known, s.doubt, s.seen = next, raw, nil, [2]stamp{}
	return nil
}

// reconcile adopts what other processes wrote, or marks it as pending. The caller has
// locked mu and the folder.
func (s *Store) reconcile(mayCount func(mine, theirs Data) bool) {
	r := s.disk.examine()
	if r.err == nil && !r.foreign && mayCount(s.data, r.data) {
		s.data, s.known = r.data, r.raw
		return
	}
	sum := s.disk.keepForeign()
	if s.doubt != nil || sum == sumOf(s.known) { // nothing of this process to compare it with, or only the copy is harmed
		return
	}
	if r.err == nil { // a window of another program counts in any case: it only makes more wait
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

// Look adopts what other processes wrote to the store, if mayCount allows it, or else marks
// the store as pending. harmed: the files are still not what this process last wrote or
// adopted, so they have to be written anew. Unless sure, files whose stamps are known are
// not read. Bytes that differ under a stamp that is known are no program's.
func (s *Store) Look(mayCount func(mine, theirs Data) bool, sure bool) (harmed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamps := s.disk.stamps()
	same := stamps == s.seen && stamps[0].tells() && stamps[1].tells()
	if same && !sure {
		return false
	}
	if s.disk.isUntouched(s.known) {
		s.seen = stamps
		return false
	}
	s.seen = [2]stamp{}
	if same {
		mayCount = func(Data, Data) bool { return false }
	}
	if unlock, err := s.disk.lock(); err == nil {
		defer unlock()
	}
	s.reconcile(mayCount)
	return !s.disk.isUntouched(s.known)
}

// Foreign returns what a person has to compare of a store that somebody else wrote, of which
// there is a copy with the hash sum: the approvals in force and those of the copy, or its
// text if that cannot be read as a store; nil if there is no copy.
func (s *Store) Foreign(sum string) (mine, theirs []byte) {
	s.mu.Lock()
	mine = approvalText(s.data)
	s.mu.Unlock()
	raw, err := s.disk.readCopy(sum)
	if err != nil {
		return mine, nil
	}
	if d, err := parseForeign(raw); err == nil {
		return mine, approvalText(d)
	}
	return mine, raw
}

// Accept adds to the store what the copy with the hash sum approves and refuses, after a
// person was shown that; with sum "", for a store that was removed, all approvals are gone.
// edit is done in the same step.
func (s *Store) Accept(sum string, mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	other := empty()
	if raw, err := s.disk.readCopy(sum); err == nil {
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

// pruneAge spares copies that a program made just now and that its store does not name yet.
const pruneAge = time.Hour

// HasKept reports whether there is a copy of a file with that hash and size, which no Prune
// removes soon.
func (s *Store) HasKept(sum string, size int64) bool { return s.disk.hasCopy(sum, size) }

// isNamed reports whether the store has a window with that name.
func (s *Store) isNamed(window string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, named := s.data.Windows[window]
	return named
}

// Keep keeps a copy of a file's bytes and returns their hash.
func (s *Store) Keep(code []byte) (sum string, err error) { return s.disk.keepCopy(code) }

// Prune removes copies of files that the store does not name, neither as a version that is
// pending or in force nor as one that was known when tools began, and that nobody has needed
// for an hour (pruneAge); and the files that sweep removes. Failures wait for the next Prune.
func (s *Store) Prune() {
	s.sweep()
	dir := filepath.Join(s.disk.dir(), "kept")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	needed := s.needed()
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && !needed[e.Name()] && time.Since(info.ModTime()) > pruneAge {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// needed returns the hashes of the copies that the store names: those of files that are
// pending, and of the versions that were in force when a window opened last.
func (s *Store) needed() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := map[string]bool{}
	for _, m := range s.data.Pending {
		sums[m.Old], sums[m.Kept], sums[m.New] = true, true, true
	}
	for _, f := range s.data.Known.Files {
		sums[f.Sum], sums[f.Kept] = true, true
	}
	return sums
}

// sweep removes files in the form of those of windows (see [Window]) that the store does not
// name and no program has locked, and files that were to become such long ago: a program ended
// in the middle of a step, or a tool put them there.
func (s *Store) sweep() {
	names, _ := filepath.Glob(filepath.Join(escapeGlob(s.disk.dir()), runningPrefix+"*"))
	for _, path := range names {
		s.mu.Lock()
		_, named := s.data.Windows[filepath.Base(path)]
		s.mu.Unlock()
		if !named && !s.disk.isLocked(filepath.Base(path)) {
			os.Remove(path)
		}
	}
	names, _ = filepath.Glob(filepath.Join(escapeGlob(s.disk.dir()), "."+runningPrefix+"*"))
	for _, path := range names {
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > pruneAge {
			os.Remove(path)
		}
	}
}
