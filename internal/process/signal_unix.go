//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

type signal struct {
	name   string
	number syscall.Signal
}

// signals are those that have a name here.
func signals() []signal {
	return []signal{
		{"TERM", syscall.SIGTERM}, {"KILL", syscall.SIGKILL}, {"INT", syscall.SIGINT}, {"HUP", syscall.SIGHUP}, {"QUIT", syscall.SIGQUIT},
		{"USR1", syscall.SIGUSR1}, {"USR2", syscall.SIGUSR2}, {"STOP", syscall.SIGSTOP}, {"CONT", syscall.SIGCONT}, {"WINCH", syscall.SIGWINCH},
		{"PIPE", syscall.SIGPIPE}, {"ALRM", syscall.SIGALRM}, {"ABRT", syscall.SIGABRT}, {"SEGV", syscall.SIGSEGV}, {"BUS", syscall.SIGBUS},
		{"FPE", syscall.SIGFPE}, {"ILL", syscall.SIGILL}, {"TRAP", syscall.SIGTRAP},
	}
}

// Signals lists the names of signals, such as TERM.
func Signals() (names []string) {
	for _, s := range signals() {
		names = append(names, s.name)
	}
	return names
}

// Signal sends a signal, by its name, to the group or session that a process leads.
func Signal(leader *os.Process, name string) error {
	i := slices.Index(Signals(), name)
	if i < 0 {
		return fmt.Errorf("there is no signal %q; there are %s", name, strings.Join(Signals(), ", "))
	}
	if err := signalAll(leader.Pid, signals()[i].number); err != nil {
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return fmt.Errorf("signal %s: %w", name, err)
	}
	return nil
}

// SignalOf is the name of the signal that ended a process; "" if none did.
func SignalOf(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	for _, s := range signals() {
		if s.number == status.Signal() {
			return s.name
		}
	}
	return fmt.Sprintf("%d", int(status.Signal()))
}
