package session

import (
	"errors"
	"fmt"
	"os"
	"time"

	"pi/internal/process"
	"pi/internal/safefile"
)

// The lock is on the descriptor that appends, so it ends with its holder
// however that ends. A file beside it names the holder, only as a hint.

// A lock outlives its holder for a moment: the system releases the locks of a killed
// process a little later, and a process that it was just starting has a copy of the
// descriptor. So a lock is tried again, and longer if the hint names no process that
// runs.
const (
	lockPause    = 5 * time.Millisecond
	triesOfALive = 20
	triesOfAGone = 100
)

// lock acquires the lock; the error may be a *[BusyError]. On a file system without
// locks the file is used unlocked, and never cut back.
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

// busy is called after each try that found the lock taken. It returns the error that
// names its holder, and whether there shall be no more tries: at once if the holder is
// on another host, after fewer if it is a process that runs. A hint may be of a killed
// process, so one that does not run is not named.
func (st *store) busy(try int) (e *BusyError, final bool) {
	e = &BusyError{Path: st.path}
	if st.lockDir == "" {
		return e, try >= triesOfALive
	}
	host, _ := os.Hostname()
	h, ok := st.readHint()
	if !ok || h.Host == host && !process.Running(h.PID) {
		st.step("no hint yet")
		return e, try >= triesOfAGone
	}
	e.PID, e.Host, e.Since = h.PID, h.Host, h.Since
	return e, h.Host != host || try >= triesOfALive
}
