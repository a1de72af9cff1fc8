//go:build unix

package screentest

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Process is the program's process.
func (s *Terminal) Process() *os.Process { return s.cmd.Process }

// Signal sends a signal to the program alone.
func (s *Terminal) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Wait waits for the end of the program and returns its exit status; -1 if a signal
// ended it. What it wrote last is on the screen then.
func (s *Terminal) Wait() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(s.options.Patience):
		s.t.Fatalf("the program does not end; the screen:\n%s", s.Screen())
	}
	s.drain()
	return s.cmd.ProcessState.ExitCode()
}

// drain waits until what the program wrote before its end is shown: the terminal
// passes on, in order, a mark that is written behind it.
func (s *Terminal) drain() {
	s.t.Helper()
	const mark = "\x1b]7;drained\a"
	if _, err := s.tty.WriteString(mark); err != nil {
		return // the system has taken the terminal away with the program
	}
	s.Until("all was read", func(Screen) bool { return strings.Contains(s.Output(), mark) })
	s.mu.Lock()
	s.raw = bytes.Replace(s.raw, []byte(mark), nil, 1)
	s.mu.Unlock()
}

// HangUp takes the terminal away, as a window does that is closed, and waits for the
// end of the program. What it writes then is seen by nobody.
func (s *Terminal) HangUp() {
	s.t.Helper()
	s.tty.Close()
	s.master.Close()
	select {
	case <-s.exited:
	case <-time.After(s.options.Patience):
		s.t.Fatal("the program goes on without its terminal")
	}
}

// ExitedBy is the signal that ended the program, 0 if none did.
func (s *Terminal) ExitedBy() syscall.Signal {
	<-s.exited
	if status, ok := s.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}

// CheckRestored reports what of the terminal is not as the program found it: its
// modes in the kernel, and those of its screen.
func (s *Terminal) CheckRestored() {
	s.t.Helper()
	after, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	if *after != *s.before {
		s.t.Errorf("the terminal's line is %+v, was %+v", after, s.before)
	}
	if modes := s.Screen().Modes; modes != (Modes{}) {
		s.t.Errorf("still switched on: %+v; the screen:\n%s", modes, s.Screen())
	}
}

// Stty is what stty -a prints of the terminal at this moment.
func (s *Terminal) Stty() string {
	s.t.Helper()
	cmd := exec.Command("stty", "-a")
	cmd.Stdin = s.tty
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("stty: %v: %s", err, out)
	}
	return string(out)
}

// IsRaw reports whether the terminal hands over keys one by one.
func (s *Terminal) IsRaw() bool {
	return !strings.Contains(" "+strings.Join(strings.Fields(s.Stty()), " "), " icanon")
}

// Stopped reports whether the program's process is stopped, as by Ctrl+Z.
func (s *Terminal) Stopped() bool { return IsStopped(s.cmd.Process.Pid) }

// IsStopped reports whether a process is stopped, as by Ctrl+Z.
func IsStopped(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.HasPrefix(strings.TrimSpace(string(out)), "T")
}
