//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart gives a command a session of its own: it has no terminal to ask at, and
// one signal reaches all that it starts.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// endRest ends what a command left running.
func endRest(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
