package safefile

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// patience is how long [LockPath] waits for others.
const patience = 5 * time.Second

// LockPath waits for the lock of the file at path, which need not be there, and returns what
// gives it back. The lock is a file beside it, and goes with it: the file itself is another
// one after each [Replace]. [ErrBusy] says that somebody has it all the time. Where there are
// no locks nobody is kept out. Who removes the file of a lock takes it away: then another one has
// it, whose file stays when it is given back here.
func LockPath(path string) (release func(), err error) {
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	for late := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) { // nothing tells when a lock is given back
		f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		err = Lock(f)
		switch {
		case err == nil && isStill(f, name):
			return func() {
				if isStill(f, name) {
					os.Remove(name) // before others can have it: who waits for this one sees that it is gone
				}
				Unlock(f)
				f.Close()
			}, nil
		case errors.Is(err, ErrNoLock):
			return func() { f.Close() }, nil
		case err != nil && !errors.Is(err, ErrLocked):
			f.Close()
			return nil, err
		}
		f.Close()
		if time.Now().After(late) {
			return nil, ErrBusy
		}
	}
}

// isStill reports whether an open file is the one that has the name.
func isStill(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(open, named)
}
