//go:build unix

package process

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// Group lets a command that is not started yet lead a process group of its own, whose
// number is that of its process.
func Group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Session is Group for a command that shall have no terminal to ask at.
func Session(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Terminate asks the group of a started command to end.
func Terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// Kill ends what of the group of a started command ignored that, or outlived the
// command itself.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Alive reports whether a process group has a process that lives. One that may
// not be asked about counts; one that has ended and that nobody waits for, as
// happens in containers, does not, where that can be told.
func Alive(group int) bool {
	return group > 1 && !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) && !onlyZombies(group)
}

// Own is the process group of this program.
func Own() int { return syscall.Getpgrp() }

// Stop ends a process group: TERM, and KILL for what is left after grace.
func Stop(group int, grace time.Duration) {
	_ = syscall.Kill(-group, syscall.SIGTERM)
	_ = syscall.Kill(-group, syscall.SIGCONT) // a process that is suspended (SIGSTOP) does not see TERM
	late := time.NewTimer(grace)
	defer late.Stop()
	// Nothing tells when a group is empty, so it is asked, while it is ending.
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for n := 1; ; n++ {
		// Whose parent has ended waits for init, which may take its time; there is nothing
		// left to stop then.
		if syscall.Kill(-group, 0) != nil || n%10 == 0 && onlyZombies(group) {
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
