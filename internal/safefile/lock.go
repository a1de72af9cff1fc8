package safefile

import (
	"errors"
)

var (
	ErrLocked = errors.New("locked by another process")
	ErrNoLock = errors.New("this file system has no locks")
)
