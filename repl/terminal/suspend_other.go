//go:build !(linux || darwin || freebsd || netbsd || openbsd)

package terminal

// signals are none where there is no terminal of keys.
type signals struct{}

func watchSignals(*Terminal) *signals { return &signals{} }

func (s *signals) stop() {}

// Suspend does nothing where a process cannot be stopped.
func (t *Terminal) Suspend() {}
