package session

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"pi/internal/safefile"
)

// The lock is on the descriptor that appends, so it ends with its holder
// however that ends. Who holds it is written beside it only as a hint.

// BusyError says that another process has the session open for appending. The
// fields about it are a hint and may be empty.
type BusyError struct {
	Path  string
	PID   int
	Host  string
	Since time.Time
}

func (e *BusyError) Error() string {
	by := "another process"
	if e.PID != 0 {
		by = fmt.Sprintf("process %d", e.PID)
	}
	if e.Host != "" {
		by += " on " + e.Host
	}
	if !e.Since.IsZero() {
		by += " since " + e.Since.Local().Format("2006-01-02 15:04:05")
	}
	return fmt.Sprintf("open session %q: in use by %s", e.Path, by)
}

// A lock outlives its holder for a moment: the system lets go of what a killed
// process had when it comes to it, and a process that it was just starting has a
// copy of the descriptor. So a lock is tried again, for longer where whoever is
// said to have it is gone or nobody is.
const (
	lockPause    = 5 * time.Millisecond
	triesOfALive = 20
	triesOfAGone = 100
)

// lock takes the lock, or says who has it. On a file system without locks the
// file is used unlocked, and never cut back.
func (st *store) lock() error {
	doLock := st.testOnlyLock
	if doLock == nil {
		doLock = safefile.Lock
	}
	err := doLock(st.f)
	for try := 0; errors.Is(err, safefile.ErrLocked); try++ {
		busy, final := st.busy(try)
		if final {
			return busy
		}
		time.Sleep(lockPause)
		err = doLock(st.f)
	}
	switch {
	case errors.Is(err, safefile.ErrNoLock):
		return nil
	case err != nil:
		return fmt.Errorf("lock session %q: %w", st.path, err)
	}
	st.locked = true
	return nil
}

// WithLock does something to the file of a session that nobody has open, and keeps
// it from being opened meanwhile, where that can be: on Windows, where an open file
// can neither be moved nor removed, the lock is let go of first. The error is a
// *[BusyError] if a process has the session open, a *[NotSessionError] if it is none,
// or what do returns.
func WithLock(path string, o Options, do func() error) error {
	if _, err := ReadHeader(path); err != nil {
		return err
	}
	st := &store{path: path, lockDir: o.LockDir}
	if err := st.open(); err != nil {
		return err
	}
	if runtime.GOOS == "windows" {
		st.close()
		return do()
	}
	err := do()
	return errors.Join(err, st.close())
}
