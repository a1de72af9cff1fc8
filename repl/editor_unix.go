//go:build unix

package repl

import (
	"context"
	"os/exec"
	"syscall"
)

// editorCommand runs the editor, whose name may have arguments, on a file. It is
// asked to end before it is killed, so that it can put the terminal in order.
func editorCommand(ctx context.Context, editor, path string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "editor", path)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	return cmd
}
