package safefile

import "errors"

// What [Lock] may say; everything else it returns is of the system.
var (
	ErrLocked = errors.New("locked by another process")
	ErrNoLock = errors.New("this file system has no locks")
)
