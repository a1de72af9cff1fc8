package app

import (
	"context"
	"errors"
	"os"

	"pi/agent"
	"pi/agent/tool"
)

// shell runs a command of the user whose output is taken from pipes.
func (r *run) shell(ctx context.Context, line string, output func(string)) (agent.BashOutcome, error) {
	o, err := tool.RunShell(ctx, r.shellOptions(), line, output)
	return outcomeOf(o), err
}

// shellInTerminal returns the function that runs a command of the user in a terminal;
// nil where that is not possible.
func (r *run) shellInTerminal() func(ctx context.Context, line string, in, out *os.File) (agent.BashOutcome, []byte, error) {
	if !tool.CanRunInTerminal {
		return nil
	}
	return func(ctx context.Context, line string, in, out *os.File) (agent.BashOutcome, []byte, error) {
		o, unread, err := tool.RunInTerminal(ctx, r.shellOptions(), line, in, out)
		return outcomeOf(o), unread, err
	}
}

// shellOptions are those for commands of the user.
func (r *run) shellOptions() tool.Options {
	o := r.toolOptions()
	o.Wrap = r.wrapper("user")
	return o
}

// wrapper returns what asks the hooks for the program that a command is handed to in the place
// of the shell. source is whose commands they are.
func (r *run) wrapper(source string) func(ctx context.Context, command string) ([]string, error) {
	return func(ctx context.Context, command string) ([]string, error) {
		e := &agent.ShellCommand{Command: command, Cwd: r.place.Cwd, Source: source}
		if r.chain == nil || !r.chain.Wants(e.Kind()) {
			return nil, nil
		}
		if err := r.chain.Handle(ctx, e); err != nil {
			return nil, err
		}
		if e.Blocked != "" {
			return nil, errors.New(e.Blocked)
		}
		return e.Wrap, nil
	}
}

// outcomeOf is how a command ended, as the agent has it.
func outcomeOf(o tool.BashOutcome) agent.BashOutcome {
	return agent.BashOutcome{Output: o.Output, ExitCode: o.Status(), Signal: o.Signal, Cancelled: o.Cancelled || o.TimedOut,
		Truncated: o.Truncation.Truncated, FullOutputPath: o.FullOutputPath}
}
