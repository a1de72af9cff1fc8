package packages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pi/internal/safefile"
	"pi/luahooks/trust"
)

// A package is put in place so that whoever looks, and whenever this program is killed, finds the old one
// whole or the new one whole. All of the new one is written beside the packages first, in a folder of its own
// with a note of what is meant. The user's yes, which the store of approvals has by the bytes of the files, is what
// decides: what was noted and not approved is dropped, what was approved is brought to its end, by whoever comes
// next.

// Store is the packages of an agent directory.
type Store struct {
	AgentDir string
	Guard    *trust.Guard // what a user agreed to

	testOnlyStep func(step string) // nil but in tests, which end the program there
}

// Dir is the folder of a package.
func (s Store) Dir(name string) string { return filepath.Join(s.packages(), name) }

func (s Store) packages() string { return filepath.Join(s.AgentDir, "packages") }

// Names lists the packages of which there is a folder.
func (s Store) Names() (names []string) {
	entries, _ := os.ReadDir(s.packages()) // none where there is no folder
	for _, e := range entries {
		if e.IsDir() && CheckName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names
}

// settling is longer than a staging folder is without its note, and than one of a package of a team is there.
const settling = time.Minute

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

const (
	stagePrefix = ".new-"
	noteName    = "note.json"
	aliveName   = "alive"
)

// note says what a staging folder is for.
type note struct {
	Name  string `json:"name"`
	Entry *Entry `json:"entry,omitempty"` // nil: the package is removed
}

// Staged is a package that is written beside the others, for its tests to run and then to be put in place, or a
// package that is about to be removed. It has to be closed.
type Staged struct {
	Dir string // of the package; its last part is the name

	store Store
	note  note
	stage string   // the folder that has all of it
	alive *os.File // locked as long as this program is at it

	recovered bool // another program wrote it; where the lock has these files already it has the better source
}

// Stage writes a package beside the others. Nothing of it is in force.
func (s Store) Stage(p *Package) (*Staged, error) {
	entry := entryOf(p)
	staged, err := s.begin(note{Name: p.Name, Entry: &entry})
	if err != nil {
		return nil, err
	}
	if err := write(staged.Dir, p.Files); err != nil {
		staged.Close()
		return nil, fmt.Errorf("write package %s: %w", p.Name, err)
	}
	s.step("staged")
	return staged, nil
}

// begin makes a staging folder with its note.
func (s Store) begin(n note) (*Staged, error) {
	if err := s.Guard.MayChangePackages(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.packages(), 0o700); err != nil {
		return nil, err
	}
	stage, err := os.MkdirTemp(s.packages(), stagePrefix+"*")
	if err != nil {
		return nil, err
	}
	staged := &Staged{Dir: filepath.Join(stage, n.Name), store: s, note: n, stage: stage}
	text, err := json.Marshal(n)
	if err == nil {
		err = staged.hold()
	}
	if err == nil {
		err = safefile.Replace(filepath.Join(stage, noteName), text, true)
	}
	if err != nil {
		staged.Close()
		return nil, err
	}
	return staged, nil
}

// hold locks the staging folder for this program.
func (st *Staged) hold() (err error) {
	if st.alive, err = os.OpenFile(filepath.Join(st.stage, aliveName), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	if err := safefile.Lock(st.alive); err != nil && !errors.Is(err, safefile.ErrNoLock) {
		return err
	}
	return nil
}

// Close gives up what was staged and is not in place, and removes what is left of it.
func (st *Staged) Close() {
	st.release()
	_ = os.RemoveAll(st.stage) // what stays is removed by the next one who looks
}

// release leaves the staging folder to others.
func (st *Staged) release() {
	if st.alive != nil {
		st.alive.Close()
		st.alive = nil
	}
}

// write writes the files of a package into a folder that is not there yet. They are on the disk when it returns; the
// disk is waited for once, and not for one file after the other.
func write(dir string, t Tree) error {
	dirs := map[string]bool{}
	var written []func() error
	for _, f := range t.Files() {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		dirs[filepath.Dir(path)] = true
		written = append(written, func() error { return writeFile(path, f) })
	}
	if err := together(written); err != nil {
		return err
	}
	var synced []func() error
	for dir := range dirs {
		synced = append(synced, func() error { return safefile.SyncDir(dir) })
	}
	return together(synced)
}

// together runs what waits for the disk, some at a time.
func together(all []func() error) error {
	failed := make([]error, len(all))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(all), 16) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(all); i = next.Add(1) - 1 {
				failed[i] = all[i]()
			}
		})
	}
	workers.Wait()
	return errors.Join(failed...)
}

func writeFile(path string, f TreeFile) error {
	mode := fs.FileMode(0o600)
	if f.Executable {
		mode = 0o700
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(f.Code)
	return errors.Join(err, file.Sync(), file.Close())
}

// Commit puts a staged package in place, now that a user has agreed to it. With an error nothing has changed, unless
// it says so.
func (st *Staged) Commit() error {
	s, name := st.store, st.note.Name
	release, err := s.alone()
	if err != nil {
		return err
	}
	defer release()
	if hasTree(st.Dir, st.note.Entry.Files) != nil { // its tests ran, and may have written there
		return fmt.Errorf("package %s was changed since it was shown; nothing of it is in force", name)
	}
	s.step("checked")
	if err := s.Guard.ApprovePackage(s.Dir(name), st.note.Entry.Files); err != nil {
		return fmt.Errorf("approve package %s: %w", name, err)
	}
	s.step("approved")
	return st.finish()
}

// Remove takes a package away. The error says what is left.
func (s Store) Remove(name string) error {
	st, err := s.begin(note{Name: name})
	if err != nil {
		return err
	}
	defer st.Close()
	release, err := s.alone()
	if err != nil {
		return err
	}
	defer release()
	s.step("noted")
	if err := s.Guard.ForgetPackage(s.Dir(name)); err != nil {
		return fmt.Errorf("remove package %s: %w", name, err)
	}
	s.step("forgotten")
	return st.finish()
}

// alone has other programs wait that approve and move packages: of two at a time the approval of one would be left with
// the files of the other.
func (s Store) alone() (release func(), err error) {
	if release, err = safefile.LockPath(s.packages()); err != nil {
		return nil, fmt.Errorf("packages: %w", err)
	}
	return release, nil
}

// finish does what was approved: the folder of the package becomes what the note says, and then the lock.
func (st *Staged) finish() error {
	s, name := st.store, st.note.Name
	place := s.Dir(name)
	if err := st.move(place); err != nil {
		return fmt.Errorf("put package %s in place: %w", name, err)
	}
	s.step("moved")
	if err := safefile.SyncDir(s.packages()); err != nil {
		return err
	}
	err := s.changeLock(func(lock Lock) Lock {
		if was, ok := lock.Packages[name]; ok && st.recovered && st.note.Entry != nil && maps.Equal(was.Files, st.note.Entry.Files) {
			return lock
		}
		return lock.with(name, st.note.Entry)
	})
	s.step("locked")
	return err
}

// changeLock changes the lock that is in force.
func (s Store) changeLock(change func(Lock) Lock) error {
	return s.Guard.ChangeLock(func(old []byte) ([]byte, error) {
		lock, err := ParseLock(old)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", trust.LockFile, err)
		}
		return change(lock).encode()
	})
}

// NoteCommit notes where a package is that came again with the same files: at another commit.
func (s Store) NoteCommit(p *Package) error {
	entry := entryOf(p)
	return s.changeLock(func(lock Lock) Lock { return lock.with(p.Name, &entry) })
}

// CheckNeeded returns an error if a package that stays needs one of those that are to be removed.
func (s Store) CheckNeeded(removed []string) error {
	for _, name := range s.Names() {
		text, err := safefile.Read(filepath.Join(s.Dir(name), ManifestFile), maxFile)
		if err != nil || slices.Contains(removed, name) {
			continue
		}
		m, err := ParseManifest(text)
		if err != nil {
			continue
		}
		for _, needed := range m.Needs {
			if slices.Contains(removed, needed) {
				return fmt.Errorf("package %s needs %s, so it stays; remove both, or %[1]s first", name, needed)
			}
		}
	}
	return nil
}

// move makes the folder of a package what the note says, if it is not that already.
func (st *Staged) move(place string) error {
	isThere := exists(place)
	switch {
	case st.note.Entry == nil && !isThere:
		return nil
	case st.note.Entry == nil:
		return os.Rename(place, st.Dir)
	case isThere && hasTree(place, st.note.Entry.Files) == nil:
		return nil
	case isThere:
		return safefile.Exchange(st.Dir, place)
	}
	return os.Rename(st.Dir, place)
}

// hasTree returns why a folder does not have exactly these files.
func hasTree(dir string, files map[string]string) error {
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(err, errOddFile)
	}
	t, err := ReadFolder(dir)
	if err != nil {
		return err
	}
	if !maps.Equal(t.Sums(), files) {
		return errors.New("it has other files")
	}
	return nil
}

// Recover brings to its end what a program that was killed had begun with a user's approval, and removes what it
// had begun without. It leaves alone what another program is at. Without leftovers it costs a look at one folder.
func (s Store) Recover() error {
	entries, err := os.ReadDir(s.packages())
	if err != nil {
		return nil // there are no packages
	}
	var failed []error
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), stagePrefix) {
			failed = append(failed, s.recoverOne(filepath.Join(s.packages(), e.Name())))
		}
	}
	return errors.Join(failed...)
}

// recoverOne is Recover for one staging folder.
func (s Store) recoverOne(stage string) error {
	st := &Staged{store: s, stage: stage}
	if info, err := os.Stat(stage); err != nil || time.Since(info.ModTime()) < settling && !exists(filepath.Join(stage, noteName)) {
		return nil // it is just being made
	}
	if err := st.hold(); err != nil { // another program is at it, or has just removed it
		st.release()
		return nil
	}
	if s.Guard.MayChangePackages() != nil { // a tool may have made it; it waits for a time without tools
		st.release()
		return nil
	}
	defer st.Close()
	text, err := safefile.Read(filepath.Join(stage, noteName), maxLock)
	if err != nil || json.Unmarshal(text, &st.note) != nil || CheckName(st.note.Name) != nil {
		return nil // it was not written to its end, so nobody was asked
	}
	st.recovered = true
	st.Dir = filepath.Join(stage, st.note.Name)
	release, err := s.alone()
	if err != nil {
		return err
	}
	defer release()
	if !st.isApproved() {
		return nil
	}
	if e := st.note.Entry; e != nil && hasTree(st.Dir, e.Files) != nil && hasTree(s.Dir(st.note.Name), e.Files) != nil {
		return fmt.Errorf("package %s was approved, and its files are gone; `pi hooks remove %[1]s`, and add it again", st.note.Name)
	}
	return st.finish()
}

// isApproved reports whether a user agreed to what the note says.
func (st *Staged) isApproved() bool {
	approved := st.store.Guard.ApprovedPackage(st.store.Dir(st.note.Name))
	if st.note.Entry == nil {
		return len(approved) == 0
	}
	return len(approved) > 0 && maps.Equal(approved, st.note.Entry.Files)
}

func (s Store) step(name string) {
	if s.testOnlyStep != nil {
		s.testOnlyStep(name)
	}
}
