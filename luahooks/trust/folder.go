package trust

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pi/internal/safefile"
)

// folder is the files of a store, in the agent directory of that name. Its methods find,
// read and write them, and make good what a tool did to them; what counts of them is for
// [Store] to decide. It remembers nothing, so any goroutine may use it.
type folder struct{ agentDir string }

// path is trust.json, the file of the approvals.
func (d folder) path() string { return filepath.Join(d.agentDir, "trust.json") }

// dir is the directory of what belongs to trust.json: its copy, the kept versions of files,
// the files of windows.
func (d folder) dir() string { return filepath.Join(d.agentDir, "trust") }

// copyPath is the second copy of the file. A file that is not what its copy is
// was written by somebody else, or the copy was.
func (d folder) copyPath() string { return filepath.Join(d.dir(), "copy") }

// keptPath is where the copy of a file with that hash is kept.
func (d folder) keptPath(sum string) string { return filepath.Join(d.dir(), "kept", sum) }

// witness is an empty file in a directory of something else, which exists once a store
// was written: a tool that removes the store by its name overlooks it.
func (d folder) witness() string { return filepath.Join(d.agentDir, "locks", "trust.json.exists") }

// writeWitness makes sure that the witness is there.
func (d folder) writeWitness() error {
	if _, err := os.Lstat(d.witness()); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(d.witness()), 0o700); err != nil {
		return err
	}
	return os.WriteFile(d.witness(), nil, 0o600)
}

// record is the content of the store, as the file and its copy tell together.
type record struct {
	data    Data
	raw     []byte // nil: there is none
	foreign bool   // the file is not what was written; data is that of the copy
	why     error  // it is foreign
	err     error  // nothing counts
}

// examine reads trust.json and its copy, and says what counts. If they differ the copy does:
// after an interrupted write it is one step ahead, and knows the hash of the file that it
// follows; any other file is foreign. Where the copy does not help, err says that nothing
// counts.
func (d folder) examine() record {
	if err := d.check(); err != nil {
		return record{err: err}
	}
	file, copied := readStore(d.path()), readStore(d.copyPath())
	switch {
	case copied.err != nil:
		return record{err: fmt.Errorf("read %s: %w", d.copyPath(), copied.err)}
	case file.raw == nil && file.err == nil && copied.raw == nil:
		return record{data: empty(), err: d.checkNew()}
	case copied.raw == nil && file.err != nil:
		// Version 1 wrote no copy and no witness. A window of it that was abandoned is not
		// believed: it has what was in force in another form.
		if data, err := parseVersion(file.raw, 1); err == nil && d.checkNew() == nil {
			return record{data: data, raw: file.raw}
		}
		return record{err: fmt.Errorf("read %s: %w", d.path(), file.err)}
	case copied.raw == nil:
		return record{err: fmt.Errorf("read %s: its copy %s is gone", d.path(), d.copyPath())}
	case bytes.Equal(file.raw, copied.raw) && file.err == nil, (file.err == nil || file.raw != nil) && copied.data.Prev == sumOf(file.raw):
		return record{data: copied.data, raw: copied.raw}
	case file.err != nil:
		return record{data: copied.data, raw: copied.raw, foreign: true, why: fmt.Errorf("read %s: %w", d.path(), file.err)}
	case file.raw == nil:
		return record{data: copied.data, raw: copied.raw, foreign: true, why: fmt.Errorf("%s was removed", d.path())}
	}
	return record{err: fmt.Errorf("read %s: it is not what %s says", d.path(), d.copyPath())}
}

// checkNew returns an error if a store was written before (see witness): one that is missing
// now was removed. The directory alone says nothing, for it is made before the first store
// is written, and version 1 wrote none before something was approved.
func (d folder) checkNew() error {
	ofVersion1, _ := filepath.Glob(filepath.Join(escapeGlob(d.dir()), "window-*"))
	if _, err := os.Lstat(d.witness()); err == nil || len(ofVersion1) > 0 {
		return fmt.Errorf("%s is gone, although there was one", d.path())
	}
	return nil
}

// check returns an error if somebody else may write to the agent directory, so that its
// files cannot be believed.
func (d folder) check() error {
	info, err := os.Stat(d.agentDir)
	if err != nil {
		return nil // there is nothing to believe either
	}
	if why := OthersMayChange(info); why != "" {
		return fmt.Errorf("read %s: its folder %s", d.path(), why)
	}
	return nil
}

// stored is one of the files; raw is nil if it does not exist.
type stored struct {
	raw  []byte
	data Data
	err  error
}

// readStore reads one of the files, without waiting and without believing what others may
// write.
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

// isUntouched reports whether both files are known, the bytes that this process wrote or
// read last; nil: there was none.
func (d folder) isUntouched(known []byte) bool {
	for _, path := range []string{d.path(), d.copyPath()} {
		raw, err := safefile.Read(path, maxStore)
		if err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.Equal(raw, known) || (raw == nil) != (known == nil) {
			return false
		}
	}
	return true
}

// stamps returns the stamps of trust.json and its copy.
func (d folder) stamps() [2]stamp {
	now := time.Now()
	return [2]stamp{stampAt(d.path(), now), stampAt(d.copyPath(), now)}
}

// encode returns the bytes of the next trust.json, with the hash of the one that is there. A
// file there that cannot be read is renamed.
func (d folder) encode(data Data) ([]byte, error) {
	old, err := safefile.Read(d.path(), maxStore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if err := renameDamaged(d.path()); err != nil {
			return nil, err
		}
	}
	data.Prev = sumOf(old)
	return data.encode()
}

// replace writes one of the files, also where a tool put a directory.
func (d folder) replace(path string, raw []byte, durable bool) error {
	err := safefile.Replace(path, raw, durable)
	if info, lerr := os.Lstat(path); err != nil && lerr == nil && info.IsDir() && renameDamaged(path) == nil {
		err = safefile.Replace(path, raw, durable)
	}
	return err
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

// repair makes the directories of the store, and makes them usable again where a tool
// harmed them.
func (d folder) repair() error {
	for _, dir := range []string{d.dir(), filepath.Join(d.dir(), "kept")} {
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

// keepCopy keeps a copy of a file's bytes and returns their hash.
func (d folder) keepCopy(code []byte) (sum string, err error) {
	sum = Sum(code)
	path := d.keptPath(sum)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(code)) {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // somebody needs it, see Store.Prune
		return sum, nil                // readCopy looks at the bytes
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	if err := safefile.Replace(path, code, false); err != nil {
		return "", fmt.Errorf("keep a copy: %w", err)
	}
	return sum, nil
}

// hasCopy reports whether a copy is kept, by its looks, that is needed since not long ago.
func (d folder) hasCopy(sum string, size int64) bool {
	info, err := os.Lstat(d.keptPath(sum))
	return err == nil && info.Mode().IsRegular() && info.Size() == size && time.Since(info.ModTime()) < pruneAge/2
}

// readCopy returns the bytes with a hash, and an error for bytes that are no longer
// those that were kept.
func (d folder) readCopy(sum string) ([]byte, error) {
	if !isSum(sum) || sum == Unreadable {
		return nil, fmt.Errorf("there is no copy %q", sum)
	}
	code, err := safefile.Read(d.keptPath(sum), maxStore)
	if err != nil {
		return nil, fmt.Errorf("the kept copy is lost: %w", reasonOf(err))
	}
	if Sum(code) != sum {
		return nil, fmt.Errorf("the kept copy %.12s is not what was kept", sum)
	}
	return code, nil
}

// keepForeign keeps a copy of trust.json as somebody else wrote it, to be shown to a person,
// and returns its hash; "" if it was removed, Unreadable if there can be no copy.
func (d folder) keepForeign() (sum string) {
	raw, err := safefile.Read(d.path(), maxStore)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return Unreadable
	}
	if _, err := d.keepCopy(raw); err != nil {
		return Unreadable
	}
	return Sum(raw)
}

// patience is how long a writer waits for another one, who has the lock for some
// milliseconds. A tool may keep it locked for ever: after that time the writer works
// without the lock, for no tool must prevent that others are watched.
const patience = 2 * time.Second

// lock keeps other programs from writing the store until unlock. It waits for another one
// that writes, but not longer than patience: then it succeeds without the lock.
func (d folder) lock() (unlock func(), err error) {
	if err := d.repair(); err != nil {
		return nil, err
	}
	path := filepath.Join(d.dir(), "lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil && renameDamaged(path) == nil { // a tool may have made it something else
		f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err = lockFile(f)
		if !errors.Is(err, safefile.ErrLocked) || time.Now().After(deadline) {
			break
		}
		time.Sleep(pause) // nothing tells when a lock of another process is free
	}
	if err != nil && !errors.Is(err, safefile.ErrLocked) {
		f.Close()
		return nil, fmt.Errorf("lock the store: %w", err)
	}
	return func() { f.Close() }, nil
}

// lockFile locks a file until it is closed. It succeeds, without effect, on a file system
// that has no locks, and never waits.
func lockFile(f *os.File) error {
	if err := safefile.Lock(f); !errors.Is(err, safefile.ErrNoLock) {
		return err
	}
	return nil
}

// isLocked reports whether a program has the file of a window locked. Its program may put
// another file in its place meanwhile, which is looked at then; where that happens again and again,
// somebody is there.
func (d folder) isLocked(name string) bool {
	path := filepath.Join(d.dir(), name)
	for range 100 {
		f, err := safefile.Open(path, os.O_RDWR)
		if err != nil {
			return false
		}
		locked := errors.Is(lockFile(f), safefile.ErrLocked)
		mine, err := f.Stat()
		there, gone := os.Stat(path)
		f.Close()
		if locked || err == nil && gone == nil && os.SameFile(mine, there) {
			return locked
		}
	}
	return true
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// reasonOf is an error without the operation and the path of a file.
func reasonOf(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
