//go:build linux || darwin || freebsd || netbsd || openbsd

package terminal

import (
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// signals are those of a terminal: its window has another size, the process runs again
// after a stop. Ctrl+C is one only while another program has the terminal, which it is for.
// SIGTSTP is none of them, since a Go program that has taken it once can no longer be
// stopped by it.
type signals struct {
	came chan os.Signal
	quit chan struct{}
	own  atomic.Bool // the next signal to run again ends a stop by Suspend
}

// watchSignals takes the signals until stop is called.
func watchSignals(t *Terminal) *signals {
	s := &signals{came: make(chan os.Signal, 8), quit: make(chan struct{})}
	signal.Notify(s.came, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGINT)
	go func() {
		for {
			select {
			case came := <-s.came:
				t.signalled(came)
			case <-s.quit:
				return
			}
		}
	}()
	return s
}

func (s *signals) stop() {
	signal.Stop(s.came)
	close(s.quit)
}

// plainSignals are those that a terminal of lines wants to know of.
func plainSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGCONT} }

// signalled takes one signal.
func (t *Terminal) signalled(came os.Signal) {
	switch came {
	case syscall.SIGWINCH:
		t.painter.windowChanges()
	case syscall.SIGINT:
		t.mu.Lock()
		theirs := t.lease.takesInterrupts()
		t.mu.Unlock()
		if !theirs {
			t.config.Handler.Interrupt()
		}
	case syscall.SIGCONT:
		if !t.signals.own.Swap(false) {
			t.resumed()
		}
	}
}

// stopPatience is how long the process may take to stop. The system does not stop one
// whose parent could not have it run again.
const stopPatience = time.Second

// Suspend stops the process and its group as Ctrl+Z does, with the terminal as it was
// before Start, and returns when the process runs again. A function of the handler may call
// it. While another program has the terminal, that has its modes.
func (t *Terminal) Suspend() {
	if t.plain != nil {
		t.plain.suspend()
		return
	}
	if !t.lending.TryLock() {
		stopGroup(&t.signals.own)
		return
	}
	defer t.lending.Unlock()
	if !t.giveAway() {
		return
	}
	stopGroup(&t.signals.own)
	t.takeBack("")
	t.config.Handler.Resumed()
}

// stopGroup stops the process and its group, and returns when they run again. own is set while that
// is awaited; nil: nobody wants to know.
func stopGroup(own *atomic.Bool) {
	if own == nil {
		own = new(atomic.Bool)
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
	own.Store(true)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return
	}
	// Short waits, since the time of the stop passes for one of them only.
	const waits = 50
	for range waits {
		select {
		case <-again:
			return
		case <-time.After(stopPatience / waits):
		}
	}
	own.Store(false)
}

// resumed sets the terminal up after a stop that could not be prepared. If its mode is still
// ours nobody has used it, and the zone is where it was; else a shell has written below.
func (t *Terminal) resumed() {
	t.switching.Lock()
	defer t.switching.Unlock()
	t.mu.Lock()
	again, lent := t.modes.again(), t.lease.lent
	t.mu.Unlock()
	if t.closed || lent {
		return
	}
	ours := t.keys.is(t.config.In)
	_ = t.keys.set(t.config.In)
	t.painter.call(0, func() {
		if ours {
			t.painter.repaint(again)
		} else {
			t.painter.restart(again)
		}
	})
	t.config.Handler.Resumed()
}
