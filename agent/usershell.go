package agent

import (
	"context"
	"errors"

	"pi/session"
	"pi/session/message"
)

// Bash runs a command of the person and adds it to the session, where the model
// sees it unless exclude is set. output, which may be nil, gets what the command
// prints as it comes. Listeners may answer for the command or keep it from
// running. It works only while no prompt runs.
func (a *Agent) Bash(ctx context.Context, command string, exclude bool, output func(string)) (BashOutcome, error) {
	ctx, err := a.busy.begin(ctx)
	if err != nil {
		return BashOutcome{}, err
	}
	defer a.busy.end()
	if a.Session().ReadOnly() {
		return BashOutcome{}, session.ErrReadOnly
	}
	if output == nil {
		output = func(string) {}
	}
	outcome, err := a.userBash(ctx, command, exclude, output)
	if err != nil {
		return outcome, err
	}
	_, err = a.Session().AppendMessage(&message.Message{
		Role: message.RoleBashExecution, Command: command, Output: outcome.Output, ExitCode: outcome.ExitCode,
		Cancelled: outcome.Cancelled, Truncated: outcome.Truncated, FullOutputPath: outcome.FullOutputPath,
		ExcludeFromContext: exclude, Timestamp: a.now().UnixMilli(),
	})
	return outcome, err
}

// userBash runs the command, unless a listener gives a result in its place, blocks it or
// fails: the first that does so decides.
func (a *Agent) userBash(ctx context.Context, command string, exclude bool, output func(string)) (BashOutcome, error) {
	e := &UserBash{Command: command, ExcludeFromContext: exclude, Cwd: a.cwd}
	err := a.events.emitGate(ctx, e, func() bool { return e.Result != nil || e.Blocked != "" })
	switch {
	case ctx.Err() != nil:
		return BashOutcome{}, ErrAborted
	case err != nil:
		return BashOutcome{}, err
	case e.Blocked != "":
		return BashOutcome{}, errors.New(e.Blocked)
	case e.Result != nil:
		output(e.Result.Output)
		return *e.Result, nil
	}
	return a.shell(ctx, command, output)
}
