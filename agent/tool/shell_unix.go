//go:build unix

package tool

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// GroupAlive reports whether a process group has a process that lives. One that may
// not be asked about counts; one that has ended and that nobody waits for, as
// happens in containers, does not, where that can be told.
func GroupAlive(group int) bool {
	return group > 1 && !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) && !onlyZombies(group)
}

// OwnGroup is the process group of this program.
func OwnGroup() int { return syscall.Getpgrp() }

// stopGroup ends a process group: TERM, and KILL for what is left after grace.
func stopGroup(group int, grace time.Duration) {
	_ = syscall.Kill(-group, syscall.SIGTERM)
	_ = syscall.Kill(-group, syscall.SIGCONT) // one that is stopped cannot end
	late := time.NewTimer(grace)
	defer late.Stop()
	// Nothing tells when a group is empty, so it is asked, while it is ending.
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if syscall.Kill(-group, 0) != nil {
			return
		}
		select {
		case <-late.C:
			_ = syscall.Kill(-group, syscall.SIGKILL)
			return
		case <-look.C:
		}
	}
}

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
