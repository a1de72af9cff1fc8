//go:build unix

package tool

import (
	"cmp"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// exitOf returns the exit code of a process, or the name of the signal that killed it.
func exitOf(s *os.ProcessState) (exit *int, signal string) {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return nil, cmp.Or(unix.SignalName(status.Signal()), status.Signal().String())
	}
	code := s.ExitCode()
	return &code, ""
}

// Status is the exit code, or what shells have instead for a command that a signal
// killed; nil if it was stopped.
func (o *BashOutcome) Status() *int {
	if o.ExitCode != nil || o.Signal == "" {
		return o.ExitCode
	}
	code := 128 + int(unix.SignalNum(o.Signal))
	return &code
}

// interrupt ends the reading of a pipe, and reports whether it could.
func interrupt(r *os.File) bool { return r.SetReadDeadline(time.Unix(1, 0)) == nil }

// maxWaiting is how much is read at most of what waits in a pipe: more than one holds. Who
// writes without end is not followed.
const maxWaiting = 1 << 20

// readWaiting reads what waits in a pipe that does not block, whatever its deadline. ended
// reports that nobody can write to it any more.
func readWaiting(r *os.File) (waiting []byte, ended bool) {
	raw, err := r.SyscallConn()
	if err != nil {
		return nil, false
	}
	_ = raw.Control(func(fd uintptr) {
		b := make([]byte, 32<<10)
		for len(waiting) < maxWaiting {
			n, err := syscall.Read(int(fd), b)
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 {
				ended = n == 0 && err == nil
				return
			}
			waiting = append(waiting, b[:n]...)
		}
	})
	return waiting, ended
}

// adopt starts a process that reads on from a pipe that a background process writes to.
// Without a reader the next line of a server that was just started would end it, and a
// reader of ours would end with this program.
func adopt(r *os.File) {
	// Jobs in the background have no input, hence the detour over descriptor 3.
	cmd := exec.Command("sh", "-c", "cat <&3 >/dev/null 2>&1 3<&- &")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = cmd.Run() // without sh or cat, the background process finds a closed pipe
}
