package safefile

import (
	"context"
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
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, ErrBusy)
	defer cancel()
	return LockFile(ctx, filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".lock"))
}

// LockFile waits until this process has the lock that the file called name is, or ctx ends,
// whose cause it returns then. It makes the file, with its folder, and removes it when the lock
// is given back.
func LockFile(ctx context.Context, name string) (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) { // nothing tells when a lock is given back
		release, err := tryLock(name)
		if release != nil || err != nil {
			return release, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryLock is LockFile without waiting: nil if another one has the lock.
func tryLock(name string) (release func(), err error) {
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
	}
	f.Close()
	if errors.Is(err, ErrLocked) {
		err = nil
	}
	return nil, err
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
