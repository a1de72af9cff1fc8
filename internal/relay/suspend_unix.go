//go:build linux || darwin || freebsd || netbsd || openbsd

package relay

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// stopPatience is how long this program may take to stop. The system does not stop one
// whose parent could not have it run again.
const stopPatience = time.Second

// suspend stops this program, because the command was stopped, with the user's terminal
// as it was; then the command goes on.
func (r *run) suspend() {
	r.passOn(stopTime)
	r.show([]byte(r.ending()))
	_ = term.Restore(int(r.In.Fd()), r.before)
	stopOwnGroup()
	_, _ = term.MakeRaw(int(r.In.Fd()))
	r.show([]byte(r.Modes(true)))
	r.resize()
	_ = syscall.Kill(-r.pid, syscall.SIGCONT)
	_ = syscall.Kill(-r.pid, syscall.SIGWINCH) // so that what it drew is drawn again
}

// stopOwnGroup stops this program and its group as Ctrl+Z does, and returns when they run
// again.
func stopOwnGroup() {
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	defer signal.Stop(again)
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
}
