//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// canWait says whether input can be waited for without being read, so that
// somebody else may read it and a line may steer while the agent works.
const canWait = true

// waker ends a wait for input from outside. The wait is select(2), for poll(2)
// does not work on the terminals of every system.
type waker struct{ r, w *os.File }

// newWaker returns a waker that uses a pipe; close and wake close its two ends.
func newWaker() (*waker, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &waker{r, w}, nil
}

// wake ends the wait that is under way or the next one, for good.
func (w *waker) wake() { w.w.Close() }

func (w *waker) close() { w.r.Close() }

// interrupt ends one wait, or the next one if there is none; the waiting goroutine
// then calls acknowledge.
func (w *waker) interrupt() {
	_, _ = w.w.Write([]byte{0}) // after wake there is nobody to call
}

// acknowledge removes the signal of one interrupt, so that the next wait waits.
func (w *waker) acknowledge() {
	_, _ = w.r.Read(make([]byte, 1))
}

// wait waits until in can be read (ready), the timeout has passed (expired; 0 is none),
// or wake or interrupt is called (neither). It is ready too if the wait itself fails,
// since the read will return the error.
func (w *waker) wait(in *os.File, timeout time.Duration) (ready, expired bool) {
	fd, bell := int(in.Fd()), int(w.r.Fd())
	if fd >= unix.FD_SETSIZE || bell >= unix.FD_SETSIZE {
		return true, false
	}
	for {
		var set unix.FdSet
		set.Set(fd)
		set.Set(bell)
		var limit *unix.Timeval
		if timeout > 0 {
			tv := unix.NsecToTimeval(int64(timeout))
			limit = &tv
		}
		n, err := unix.Select(max(fd, bell)+1, &set, nil, nil, limit)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return true, false // the read will return the error
		case n == 0:
			return false, true
		default:
			return !set.IsSet(bell), false
		}
	}
}

// readable reports whether in can be read without waiting, or nobody knows.
func readable(in *os.File) bool {
	fd := int(in.Fd())
	if fd >= unix.FD_SETSIZE {
		return true
	}
	var set unix.FdSet
	set.Set(fd)
	n, err := unix.Select(fd+1, &set, nil, nil, &unix.Timeval{})
	return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
}
