package agent

import (
	"context"
	"errors"

	"pi/session"
)

// Bash runs a command of the person and adds it to the session, where the model
// sees it unless exclude is set. Listeners may answer for the command or keep
// it from running. It works only while no prompt runs.
func (a *Agent) Bash(ctx context.Context, command string, exclude bool, output func(string)) (BashOutcome, error) {
	ctx, err := a.begin(ctx)
	if err != nil {
		return BashOutcome{}, err
	}
	defer a.end()
	outcome, err := a.userBash(ctx, command, exclude, output)
	if err != nil {
		return outcome, err
	}
	_, err = a.Session().AppendMessage(&session.Message{
		Role: session.RoleBashExecution, Command: command, Output: outcome.Output, ExitCode: outcome.ExitCode,
		Cancelled: outcome.Cancelled, Truncated: outcome.Truncated, FullOutputPath: outcome.FullOutputPath,
		ExcludeFromContext: exclude, Timestamp: a.now().UnixMilli(),
	})
	return outcome, err
}

func (a *Agent) userBash(ctx context.Context, command string, exclude bool, output func(string)) (BashOutcome, error) {
	if a.wants(KindUserBash) {
		e := &UserBash{Command: command, ExcludeFromContext: exclude, Cwd: a.cwd}
		if err := a.ask(ctx, e); err != nil {
			return BashOutcome{}, err
		}
		if e.Blocked != "" {
			return BashOutcome{}, errors.New(e.Blocked)
		}
		if e.Result != nil {
			output(e.Result.Output)
			return *e.Result, nil
		}
	}
	return a.shell(ctx, command, output)
}
