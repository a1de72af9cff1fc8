package cli

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// signals are how others end the run: TERM and HUP, and INT where no user has the terminal,
// which otherwise sends Ctrl+C as a key. The first one ends the run in order, and its number
// decides about the exit status. Where no user has the terminal, a second one ends the
// process at once; a second HUP does not, for both the terminal and the shell send one when
// they close.
type signals struct {
	crash  *crash
	caught chan os.Signal
	end    context.CancelFunc // ends the run in order

	first      atomic.Int32 // the number of the first one; 0: there was none
	unattended atomic.Bool  // no user has the terminal
}

func newSignals(c *crash, end context.CancelFunc) *signals {
	return &signals{crash: c, caught: make(chan os.Signal, 1), end: end}
}

// watch waits for signals until the function it returns is called.
func (s *signals) watch() (stop func()) {
	signal.Notify(s.caught, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case got := <-s.caught:
				s.handle(got.(syscall.Signal))
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(s.caught)
		close(done)
	}
}

// catchInterrupts makes INT one of the signals. It is called where no user has the terminal.
func (s *signals) catchInterrupts() {
	s.unattended.Store(true)
	signal.Notify(s.caught, os.Interrupt)
}

func (s *signals) handle(got syscall.Signal) {
	if s.first.CompareAndSwap(0, int32(got)) {
		s.end()
		return
	}
	again := got == syscall.SIGHUP && s.hungUp()
	if s.unattended.Load() && !again {
		s.crash.force(s.status())
	}
}

// status returns the exit status that the first signal asks for; 0 if there was none.
func (s *signals) status() int {
	if first := s.first.Load(); first != 0 {
		return exitSignalled + int(first)
	}
	return 0
}

// hungUp reports whether the run ends because its terminal is gone.
func (s *signals) hungUp() bool { return s.first.Load() == int32(syscall.SIGHUP) }
