//go:build unix

package tool

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ending tells how a process ended.
func ending(s *os.ProcessState) (exit *int, signal string) {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return nil, signalName(status.Signal())
	}
	code := s.ExitCode()
	return &code, ""
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// interrupt makes the reader of a pipe give up.
func interrupt(r *os.File) bool { return r.SetReadDeadline(time.Unix(1, 0)) == nil }

// adopt leaves a pipe that a background process writes to with a process that
// reads it. Without a reader the next line of a server that was just started
// would end it, and a reader of ours would end with this program.
func adopt(r *os.File) {
	// Jobs in the background have no input, hence the detour over descriptor 3.
	cmd := exec.Command("sh", "-c", "cat <&3 >/dev/null 2>&1 3<&- &")
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{r}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	_ = cmd.Run() // if it cannot be had, the process meets a closed pipe
}
