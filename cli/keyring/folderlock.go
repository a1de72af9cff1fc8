package keyring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pi/cli/config"
	"pi/internal/safefile"
)

// auth.json is shared with programs that lock it by a folder beside it, auth.json.lock: whoever makes
// it has the lock, and sets its time again and again while they have it. A folder whose time stands
// still was left behind. A lock of the system would not be seen by them, and where refresh tokens are
// good once, one of two programs would be logged out.

const (
	staleAfter = 30 * time.Second
	renewEvery = 10 * time.Second
	lookEvery  = 50 * time.Millisecond
)

// errLocked says that another program has the lock all the time.
var errLocked = errors.New("another program has it locked all the time; try again")

// folderLock is a lock that is held.
type folderLock struct {
	path string
	stop chan struct{}
	done sync.WaitGroup

	mu  sync.Mutex
	set time.Time // the time that the folder has, as the file system keeps it
}

// lockFolder waits for the lock of the file at path, or for the end of ctx. The file need not be there.
func lockFolder(ctx context.Context, path string) (*folderLock, error) {
	path, err := safefile.Target(path) // where others look too
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	l := &folderLock{path: path + ".lock", stop: make(chan struct{})}
	var watched standstill
	for {
		err := os.Mkdir(l.path, 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Lstat(l.path); err == nil && watched.isStale(info, time.Now()) {
			if err := removeStale(l.path, info); err != nil {
				return nil, err
			}
			continue
		}
		select {
		case <-time.After(lookEvery): // nothing tells when a folder goes
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	l.renew()
	l.done.Go(l.keep)
	return l, nil
}

// standstill notices that the time of a folder stands still, whatever the clock of the file system is.
type standstill struct {
	time  time.Time // of the folder
	since time.Time // when it was seen first
}

// isStale reports whether a folder was left behind.
func (s *standstill) isStale(info fs.FileInfo, now time.Time) bool {
	if !info.ModTime().Equal(s.time) {
		s.time, s.since = info.ModTime(), now
	}
	return now.Sub(s.time) > staleAfter || now.Sub(s.since) > staleAfter
}

// removeStale removes a folder that was left behind, if it is still the one that was seen: of several
// programs that see it one does, so that none removes what another has made meanwhile.
func removeStale(path string, seen fs.FileInfo) error {
	release, err := safefile.LockPath(path)
	if err != nil {
		return err
	}
	defer release()
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(now, seen) || !now.ModTime().Equal(seen.ModTime()) {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s was left behind by another program and cannot be removed: %w", config.Tilde(path), err)
	}
	return nil
}

// keep renews the time of the folder until the lock is given back.
func (l *folderLock) keep() {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if l.isOurs() {
				l.renew()
			}
		case <-l.stop:
			return
		}
	}
}

// renew sets the time of the folder.
func (l *folderLock) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	_ = os.Chtimes(l.path, now, now) // where it cannot be set, it grows old
	if info, err := os.Lstat(l.path); err == nil {
		l.set = info.ModTime()
	}
}

// isOurs reports whether the folder is still the one that was made here: after a long sleep of the
// machine another program may have taken it over.
func (l *folderLock) isOurs() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := os.Lstat(l.path)
	return err == nil && info.ModTime().Equal(l.set)
}

// release gives the lock back.
func (l *folderLock) release() {
	close(l.stop)
	l.done.Wait()
	if l.isOurs() {
		_ = os.Remove(l.path) // else it grows old
	}
}
