//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

import (
	"os"
	"sync/atomic"
)

// signals are none where there is no terminal of keys.
type signals struct{}

func watchSignals(*Terminal) *signals { return &signals{} }

func (s *signals) stop() {}

// Suspend does nothing where a process cannot be stopped.
func (t *Terminal) Suspend() {}

func stopGroup(*atomic.Bool) {}

// plainSignals are those that a terminal of lines wants to know of.
func plainSignals() []os.Signal { return []os.Signal{os.Interrupt} }
