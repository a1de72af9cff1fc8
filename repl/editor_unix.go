//go:build unix

package repl

import (
	"context"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"pi/agent"
)

// editorCommand runs the editor, whose name may have arguments, on a file. It is
// asked to end before it is killed, so that it can put the terminal in order.
func editorCommand(ctx context.Context, editor, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "editor", path)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return cmd
}

// exitOf is how a program ended.
func exitOf(cmd *exec.Cmd) agent.Exit {
	if cmd.ProcessState == nil {
		return agent.Exit{Code: -1}
	}
	exit := agent.Exit{Code: cmd.ProcessState.ExitCode()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = strings.TrimPrefix(unix.SignalName(status.Signal()), "SIG")
	}
	return exit
}
