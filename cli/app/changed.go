package app

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"pi/internal/process"
	"pi/stdlib"
)

// lookTime is how long git may look for changes: in a repository where that takes longer
// the status line does not tell.
const lookTime = 10 * time.Second

// hasChanges reports whether git knows changes around dir that are not committed, false if
// it cannot be asked.
func hasChanges(ctx context.Context, dir string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	changed, err := stdlib.HasChanges(ctx, runQuietly, dir)
	return changed && err == nil
}

// runQuietly runs a program that nobody watches. Its process group ends with ctx.
func runQuietly(ctx context.Context, c stdlib.Command) (stdout, stderr string, code int, err error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.Cwd, &out, &errs
	cmd.Env = os.Environ()
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	process.Group(cmd)
	cmd.Cancel = func() error { process.Kill(cmd); return nil }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		err = nil
	}
	if cmd.ProcessState != nil {
		code = cmd.ProcessState.ExitCode()
	}
	return out.String(), errs.String(), code, err
}
