package safefile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock acquires the lock of an open file for this process, without waiting for it:
// [ErrLocked] says that another one has it, [ErrNoLock] that there are none here. It
// locks one byte far beyond the end: locks are mandatory here, and readers must still
// get at the contents.
func Lock(f *os.File) error {
	at := lockedByte()
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	switch {
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return ErrLocked
	case errors.Is(err, windows.ERROR_NOT_SUPPORTED), errors.Is(err, windows.ERROR_INVALID_FUNCTION):
		return ErrNoLock
	}
	return err
}

func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// Unlock releases the lock.
func Unlock(f *os.File) { windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte()) }

// SyncDir does nothing: folders cannot be synced here.
func SyncDir(string) error { return nil }
