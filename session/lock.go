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
// however that ends. Who holds it is written beside it only as a hint.

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

// busy says who holds the lock, and whether it is to be tried again: not where the
// holder is on another host, whose processes nobody here sees. Who has just got it
// may not have said so yet, and before that the last holder, if it was killed, is
// still there to read: who is gone is not named.
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
