//go:build !unix

package repl

import (
	"context"
	"os/exec"
	"strings"

	"pi/agent"
)

// editorCommand runs the editor, whose name may have arguments, on a file.
func editorCommand(ctx context.Context, editor, path string) *exec.Cmd {
	words := append(strings.Fields(editor), path)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}

// exitOf is how a program ended.
func exitOf(cmd *exec.Cmd) agent.Exit {
	if cmd.ProcessState == nil {
		return agent.Exit{Code: -1}
	}
	return agent.Exit{Code: cmd.ProcessState.ExitCode()}
}
