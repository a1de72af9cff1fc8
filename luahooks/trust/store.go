package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"pi/internal/safefile"
)

// Store is trust.json and what belongs to it: what is to outlive a program. The file is read,
// changed and replaced under one lock, which several processes respect. The methods may be
// called from any goroutine.
type Store struct {
	agentDir string

	mu      sync.Mutex // guards the fields below, which change together with the file
	data    Data
	known   []byte // the file as it was last read or written here; nil: there was none
	damaged error  // why nothing that was there counts

	// TestOnlyFails is the error of every write.
	TestOnlyFails error
}

// Open reads the store of an agent directory. The store is usable also with an error, which
// tells why it is damaged: nothing in it counts. One that does not exist is empty.
func Open(agentDir string) (*Store, error) {
	s := &Store{agentDir: agentDir, data: empty()}
	data, raw, err := s.read()
	if err != nil { // or another program is writing the first one at this moment
		_, unlock := s.lock()
		data, raw, err = s.read()
		unlock()
	}
	if err != nil {
		s.damaged = err
		return s, fmt.Errorf("%w; nothing in it counts until `pi trust` has written it anew", err)
	}
	s.data, s.known = data, raw
	return s, nil
}

// Path is the file of the approvals.
func (s *Store) Path() string { return filepath.Join(s.agentDir, "trust.json") }

// Dir is the directory of what belongs to them: the kept versions of files, the files of windows.
func (s *Store) Dir() string { return filepath.Join(s.agentDir, "trust") }

// keptDir is the directory of the copies of files, each named by its hash.
func (s *Store) keptDir() string { return filepath.Join(s.Dir(), "kept") }

// marker is an empty file in a directory of something else. It is there for good once a store
// was written: one that is missing now was removed.
func (s *Store) marker() string { return filepath.Join(s.agentDir, "locks", "trust.json.exists") }

// Exists reports whether the agent directory is there.
func (s *Store) Exists() bool {
	_, err := os.Stat(s.agentDir)
	return err == nil
}

// Damaged is why nothing in the store counts, nil in ordinary life: then it cannot be known
// what was active.
func (s *Store) Damaged() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.damaged
}

// isWritten reports whether there is a store that was written, by this program or another one.
func (s *Store) isWritten() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known != nil
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

// PackageDirs lists the folders of packages that have approvals, in order.
func (s *Store) PackageDirs() (dirs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for dir, p := range s.data.Projects {
		if isBelow(dir, packagesIn(s.agentDir)) && len(p.Files) > 0 {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// ApprovedBy returns the hook that approved a file of a project; "" if a user did, or nobody.
func (s *Store) ApprovedBy(project, path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.data.Projects[project]; p != nil {
		return p.By[path]
	}
	return ""
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
// when. They are those that no user was told of at a start yet.
func (s *Store) ChangedInstructions() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.data.Spoken)
}

// Known returns what was active when a window opened last.
func (s *Store) Known() Known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Known{maps.Clone(s.data.Known.Files), maps.Clone(s.data.Known.Dirs)}
}

// read returns what trust.json says, and its bytes: nil if there is none. The error is why it is
// damaged.
func (s *Store) read() (d Data, raw []byte, err error) {
	if info, err := os.Stat(s.agentDir); err == nil {
		if why := OthersMayChange(info); why != "" {
			return empty(), nil, fmt.Errorf("read %s: its folder %s", s.Path(), why)
		}
	}
	raw, err = readOwn(s.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return empty(), nil, s.checkMissing()
	}
	if err == nil {
		d, err = parseData(raw)
	}
	if err != nil {
		return empty(), nil, fmt.Errorf("read %s: %w", s.Path(), reasonOf(err))
	}
	return d, raw, nil
}

// readOwn reads a file that only this program writes, without waiting. It is an error if others
// may write it too.
func readOwn(path string) ([]byte, error) {
	f, err := safefile.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if why := groupMayChange(info); why != "" {
		return nil, errors.New(why)
	}
	return safefile.ReadMost(f, maxStore)
}

// isMarked reports whether the marker is there, or it cannot be known.
func (s *Store) isMarked() bool {
	_, err := os.Lstat(s.marker())
	return !errors.Is(err, fs.ErrNotExist)
}

// checkMissing returns an error if there was a store, which is not there now: its marker is, or
// bytes are that were kept. Folders alone say nothing, they are made before the first store.
func (s *Store) checkMissing() error {
	kept, err := os.ReadDir(s.keptDir())
	if s.isMarked() || len(kept) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is gone, although there was one", s.Path())
	}
	return nil
}

// lock keeps other programs from writing the store until unlock. A tool may keep it locked for ever,
// or put something in the place of the lock: that is removed. Where it cannot be, the writer works
// without the lock, for no tool must prevent that others are watched. A program that was stopped, or
// waited for its disk, may lose the lock so: held reports whether it still has it.
func (s *Store) lock() (held func() bool, unlock func()) {
	lock := filepath.Join(s.agentDir, ".trust.json.lock") // as LockPath has it
	remove := func() {
		if os.Remove(lock) != nil {
			_ = renameDamaged(lock)
		}
	}
	if info, err := os.Lstat(lock); err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o600 != 0o600) {
		remove()
	}
	unlock, err := safefile.LockPath(s.Path())
	if errors.Is(err, safefile.ErrBusy) {
		remove()
		unlock, err = safefile.LockPath(s.Path())
	}
	if err != nil {
		return func() bool { return true }, func() {}
	}
	mine, err := os.Lstat(lock)
	return func() bool {
		now, lost := os.Lstat(lock)
		return err != nil || lost == nil && os.SameFile(mine, now)
	}, unlock
}

// Change edits the store: read, edit and write happen under the lock, so that nobody's approval
// is lost. The file counts if it can be believed and mayCount allows it; otherwise the data of
// this process is edited, and the file is marked as pending.
func (s *Store) Change(mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.change(mayCount, edit); err != nil {
		return fmt.Errorf("write %s: %w", s.Path(), err)
	}
	return nil
}

// change is Change without the lock mu.
func (s *Store) change(mayCount func(mine, theirs Data) bool, edit func(*Data)) error {
	const tries = 3
	err := safefile.ErrBusy
	for try := 1; errors.Is(err, safefile.ErrBusy); try++ {
		err = s.tryChange(mayCount, edit, try == tries)
	}
	return err
}

// tryChange is change under one lock. If another program took the lock, and may have written what this
// one has not read, the error is [safefile.ErrBusy]; with force it is written all the same.
func (s *Store) tryChange(mayCount func(mine, theirs Data) bool, edit func(*Data), force bool) error {
	if err := s.repair(); err != nil {
		return err
	}
	held, unlock := s.lock()
	defer unlock()
	s.reconcile(mayCount)
	next := s.data.clone()
	edit(&next)
	raw, err := next.encode()
	if err == nil {
		err = s.TestOnlyFails
	}
	if err == nil {
		err = s.replace(raw, !next.ApprovesLike(s.data), func() bool { return force || held() })
	}
	if err != nil {
		return err
	}
	s.data, s.known, s.damaged = next, raw, nil
	if _, err := os.Lstat(s.marker()); err != nil { // if it cannot be made the next write tries again: bytes that are kept say the same
		_ = safefile.Replace(s.marker(), nil, false)
	}
	return nil
}

// replace writes the file if may allows it, also where a tool put a directory.
func (s *Store) replace(raw []byte, durable bool, may func() bool) error {
	err := safefile.ReplaceIf(s.Path(), raw, durable, may)
	if info, lerr := os.Lstat(s.Path()); err != nil && lerr == nil && info.IsDir() && renameDamaged(s.Path()) == nil {
		err = safefile.ReplaceIf(s.Path(), raw, durable, may)
	}
	return err
}

// reconcile adopts what other processes wrote, or marks it as pending. The caller has
// locked mu and the file.
func (s *Store) reconcile(mayCount func(mine, theirs Data) bool) {
	theirs, raw, err := s.read()
	if err == nil && mayCount(s.data, theirs) {
		s.data, s.known = theirs, raw
		return
	}
	sum := s.keepForeign()
	if s.damaged != nil || sum == sumOf(s.known) && !s.isLost() { // nothing of this process to compare it with
		return
	}
	if err == nil { // a window of another program counts in any case: it only makes more wait
		for name, w := range theirs.Windows {
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
// the store as pending. harmed: the file is still not what this process last wrote or adopted,
// so it has to be written anew.
func (s *Store) Look(mayCount func(mine, theirs Data) bool) (harmed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isUntouched() {
		return false
	}
	_, unlock := s.lock()
	defer unlock()
	s.reconcile(mayCount)
	return !s.isUntouched()
}

// isLost reports whether another process has made a store of which this one has never seen anything,
// and it is gone.
func (s *Store) isLost() bool { return s.known == nil && s.isMarked() }

// isUntouched reports whether the file is the bytes that this process wrote or read last.
func (s *Store) isUntouched() bool {
	raw, err := safefile.Read(s.Path(), maxStore)
	if errors.Is(err, fs.ErrNotExist) {
		return s.known == nil && !s.isLost()
	}
	return err == nil && s.known != nil && bytes.Equal(raw, s.known)
}

// keepForeign keeps a copy of trust.json as somebody else wrote it, to be shown to a user,
// and returns its hash; "" if it was removed, Unreadable if there can be no copy.
func (s *Store) keepForeign() (sum string) {
	raw, err := safefile.Read(s.Path(), maxStore)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err == nil {
		sum, err = s.Keep(raw)
	}
	if err != nil {
		return Unreadable
	}
	return sum
}

// Foreign returns what a user has to compare of a store that somebody else wrote, of which
// there is a copy with the hash sum: the approvals that count and those of the copy, or its
// text if that cannot be read as a store; nil if there is no copy.
func (s *Store) Foreign(sum string) (mine, theirs []byte) {
	s.mu.Lock()
	mine = approvalText(s.data)
	s.mu.Unlock()
	raw, err := s.kept(sum)
	if err != nil {
		return mine, nil
	}
	if d, err := parseForeign(raw); err == nil {
		return mine, approvalText(d)
	}
	return mine, raw
}

// approvalsIn returns what the copy with the hash sum of a store approves and refuses. What cannot
// be read approves nothing.
func (s *Store) approvalsIn(sum string) map[string]*Project {
	raw, err := s.kept(sum)
	if err != nil {
		return nil
	}
	d, _ := parseForeign(raw)
	return d.Projects
}

// isNamed reports whether the store has a window with that name.
func (s *Store) isNamed(window string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, named := s.data.Windows[window]
	return named
}

// Keep keeps a copy of a file's bytes and returns their hash.
func (s *Store) Keep(code []byte) (sum string, err error) {
	sum = Sum(code)
	path := filepath.Join(s.keptDir(), sum)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(code)) {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // somebody needs it, see Prune
		return sum, nil                // kept looks at the bytes
	}
	if err := safefile.Replace(path, code, false); err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	return sum, nil
}

// HasKept reports whether a copy with that hash and size is kept, by its looks, which no Prune
// removes soon.
func (s *Store) HasKept(sum string, size int64) bool {
	info, err := os.Lstat(filepath.Join(s.keptDir(), sum))
	return err == nil && info.Mode().IsRegular() && info.Size() == size && time.Since(info.ModTime()) < pruneAge/2
}

// kept returns the bytes with a hash, and an error for bytes that are no longer those that were
// kept.
func (s *Store) kept(sum string) ([]byte, error) {
	if !isSum(sum) || sum == Unreadable {
		return nil, fmt.Errorf("there is no copy %q", sum)
	}
	code, err := safefile.Read(filepath.Join(s.keptDir(), sum), maxStore)
	if err != nil {
		return nil, fmt.Errorf("the kept copy is lost: %w", reasonOf(err))
	}
	if Sum(code) != sum {
		return nil, fmt.Errorf("the kept copy %.12s is not what was kept", sum)
	}
	return code, nil
}

// pruneAge spares copies that a program made just now and that its store does not name yet.
const pruneAge = time.Hour

// Prune removes copies of files that the store does not name, neither as a version that is
// pending or active nor as one that was known when tools began, and files of windows that it
// does not name and no program has locked: their program ended in the middle of a step, or a tool
// put them there. It spares what somebody needed within the last hour (pruneAge). Failures wait
// for the next Prune. Other programs may have written the store since this one looked.
func (s *Store) Prune() {
	theirs, _, err := s.read()
	if err != nil {
		return // it is not known what is needed
	}
	s.mu.Lock()
	copies, windows := needed(s.data, theirs)
	s.mu.Unlock()
	prune := func(dir string, unneeded func(name string) bool) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > pruneAge && unneeded(e.Name()) { // a new file is not even locked
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
	prune(s.keptDir(), func(name string) bool { return !copies[name] })
	prune(s.Dir(), func(name string) bool { return isRunning(name) && !windows[name] && !s.isLocked(name) })
	for _, name := range []string{"copy", "lock"} { // of version 2
		os.Remove(filepath.Join(s.Dir(), name))
	}
}

// needed returns the hashes of the copies that stores name, those of files that are pending and
// of the versions that were active when a window opened last; and the names of their windows.
func needed(stores ...Data) (copies, windows map[string]bool) {
	copies, windows = map[string]bool{}, map[string]bool{}
	for _, d := range stores {
		for _, m := range d.Pending {
			copies[m.Old], copies[m.Kept], copies[m.New] = true, true, true
		}
		for _, f := range d.Known.Files {
			copies[f.Sum], copies[f.Kept] = true, true
		}
		for name := range d.Windows {
			windows[name] = true
		}
	}
	return copies, windows
}

// repair makes the directories of the store, and makes them usable again where a tool
// harmed them.
func (s *Store) repair() error {
	for _, dir := range []string{s.Dir(), s.keptDir()} {
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() && info.Mode().Perm() == 0o700 {
			continue
		}
		if err == nil && !info.IsDir() {
			err = renameDamaged(dir)
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.MkdirAll(dir, 0o700)
		}
		if err == nil && info != nil && info.IsDir() {
			err = os.Chmod(dir, 0o700)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// renameDamaged renames a harmed file or directory, under a name that is free.
func renameDamaged(path string) error {
	for n := 1; n <= maxDamaged; n++ {
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
	return fmt.Errorf("%s is damaged, and so were %d before it", path, maxDamaged)
}

// maxDamaged is how many harmed files are kept.
const maxDamaged = 100

// reasonOf is an error without the operation and the path of a file.
func reasonOf(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
