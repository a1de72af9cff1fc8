//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"os"
	"sync/atomic"
	"time"

	"github.com/peterh/liner"
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

// lineMode is a mode of the console, as the line editor knows it.
type lineMode struct{ liner.ModeApplier }

func readLineMode(*os.File) (lineMode, error) {
	mode, err := liner.TerminalMode()
	return lineMode{mode}, err
}

func (m lineMode) set(*os.File) error { return m.ApplyMode() }

func (m lineMode) keys() lineMode { return m }

func (m lineMode) silent() lineMode { return m }

func (m lineMode) is(*os.File) bool { return true }

// signals are none where there is no terminal of keys.
type signals struct{}

func watchSignals(*Terminal) *signals { return &signals{} }

func (s *signals) stop() {}

// Suspend does nothing where a process cannot be stopped.
func (t *Terminal) Suspend() {}

func stopGroup(*atomic.Bool) {}

// plainSignals are those that a terminal of lines wants to know of.
func plainSignals() []os.Signal { return []os.Signal{os.Interrupt} }

func unread(*os.File) int { return 0 }
