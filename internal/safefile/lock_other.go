//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package safefile

import "os"

func Lock(*os.File) error { return ErrNoLock }

func unLock(*os.File) {}

func SyncDir(string) error { return nil }
