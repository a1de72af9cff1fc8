//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock acquires the lock of an open file for this process, without waiting for it:
// [ErrLocked] says that another one has it, [ErrNoLock] that there are none here. It
// is held until [Unlock], or until the file is closed here and in every process that
// was started meanwhile; however a process ends, its lock ends with it.
func Lock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS):
			return ErrNoLock
		}
		return err
	}
}

// Unlock releases the lock at once: a process that is just being started has a copy
// of the file, and would keep the lock beyond a Close.
func Unlock(f *os.File) { unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// SyncDir brings to the disk which files a folder has, after one was made, renamed or
// removed in it. Where folders cannot be synced it does nothing.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
