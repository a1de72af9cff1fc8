package app

import (
	"context"
	"os"

	"pi/agent"
	"pi/agent/tool"
)

// shell runs a command of the person whose output is taken from pipes.
func (r *run) shell(ctx context.Context, line string, output func(string)) (agent.BashOutcome, error) {
	o, err := tool.RunShell(ctx, r.toolOptions(), line, output)
	return outcomeOf(o), err
}

// shellInTerminal returns the function that runs a command of the person in a terminal;
// nil where that is not possible.
func (r *run) shellInTerminal() func(ctx context.Context, line string, in, out *os.File) (agent.BashOutcome, []byte, error) {
	if !tool.CanRunInTerminal {
		return nil
	}
	return func(ctx context.Context, line string, in, out *os.File) (agent.BashOutcome, []byte, error) {
		o, unread, err := tool.RunInTerminal(ctx, r.toolOptions(), line, in, out)
		return outcomeOf(o), unread, err
	}
}

// outcomeOf is how a command ended, as the agent has it.
func outcomeOf(o tool.BashOutcome) agent.BashOutcome {
	return agent.BashOutcome{Output: o.Output, ExitCode: o.Status(), Signal: o.Signal, Cancelled: o.Cancelled || o.TimedOut,
		Truncated: o.Truncation.Truncated, FullOutputPath: o.FullOutputPath}
}
