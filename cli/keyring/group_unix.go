//go:build unix

package keyring

import (
	"os/exec"
	"syscall"
)

// setOwnSession gives a command a session of its own: it has no terminal to ask at, and
// one signal reaches all that it starts.
func setOwnSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// killGroup ends what a command left running.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
