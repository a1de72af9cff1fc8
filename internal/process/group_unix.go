//go:build unix

package process

import (
	"errors"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Group lets a command that is not started yet lead a process group of its own, whose
// number is that of its process.
func Group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Session is Group for a command that shall have no terminal to ask at: it leads a session.
func Session(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Terminate asks the group of a started command to end.
func Terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// Kill ends what of the group of a started command ignored that, or outlived the
// command itself.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Alive reports whether a process group, or the session of that number, has a process
// that lives. One that may not be asked about counts; one that has ended and that nobody
// waits for, as happens in containers, does not, where that can be told.
func Alive(group int) bool {
	if group <= 1 {
		return false
	}
	err := syscall.Kill(-group, 0)
	return errors.Is(err, syscall.EPERM) || hasMember(group, err == nil)
}

// Own are the process group of this program and its session.
func Own() []int {
	session, _ := unix.Getsid(0)
	return []int{syscall.Getpgrp(), session}
}

// Stop ends a process group, or the session of that number: TERM, and KILL for what is
// left after grace.
func Stop(group int, grace time.Duration) {
	_ = signalAll(group, syscall.SIGTERM)
	_ = signalAll(group, syscall.SIGCONT) // a process that is suspended (SIGSTOP) does not see TERM
	late := time.NewTimer(grace)
	defer late.Stop()
	// Nothing tells when a group is empty, so it is asked, while it is ending.
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for n := 1; ; n++ {
		// Whose parent has ended waits for init, which may take its time; there is nothing
		// left to stop then.
		if (syscall.Kill(-group, 0) != nil || n%10 == 0) && !Alive(group) {
			return
		}
		select {
		case <-late.C:
			_ = signalAll(group, syscall.SIGKILL)
			return
		case <-look.C:
		}
	}
}

// signalAll sends a signal to a group, and to what its session has in other groups. The
// error is that of the group.
func signalAll(group int, number syscall.Signal) error {
	err := syscall.Kill(-group, number)
	for pid := range members(group) {
		if of, gone := syscall.Getpgid(pid); gone == nil && of != group {
			_ = syscall.Kill(pid, number)
		}
	}
	return err
}
