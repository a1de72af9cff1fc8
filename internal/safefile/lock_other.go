//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package safefile

import "os"

// Lock says that there are no locks.
func Lock(*os.File) error { return ErrNoLock }

// Unlock does nothing.
func Unlock(*os.File) {}

// SyncDir does nothing: nobody knows whether folders can be synced here.
func SyncDir(string) error { return nil }
