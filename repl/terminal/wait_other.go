//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"os"
	"time"
)

// canWait is false where a console can only be read: there the line editor
// reads it alone, and nothing is typed while the agent works.
const canWait = false

type waker struct{}

func newWaker() (*waker, error) { return &waker{}, nil }

func (w *waker) wake() {}

func (w *waker) close() {}

func (w *waker) interrupt() {}

func (w *waker) acknowledge() {}

func (w *waker) wait(*os.File, time.Duration) (ready, expired bool) { return true, false }

// readable is true, for nobody knows.
func readable(*os.File) bool { return true }
