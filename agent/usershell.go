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
// running. While a prompt runs the command runs beside it, and is added before the next
// request to the model, or at the end of the run.
func (a *Agent) Bash(ctx context.Context, command string, exclude bool, output func(string)) (BashOutcome, error) {
	claimed, err := a.busy.begin(ctx)
	beside := errors.Is(err, ErrBusy)
	switch {
	case err == nil:
		ctx = claimed
		defer a.busy.end()
	case !beside:
		return BashOutcome{}, err
	}
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
	m := &message.Message{
		Role: message.RoleBashExecution, Command: command, Output: outcome.Output, ExitCode: outcome.ExitCode,
		Cancelled: outcome.Cancelled, Truncated: outcome.Truncated, FullOutputPath: outcome.FullOutputPath,
		ExcludeFromContext: exclude, Timestamp: a.now().UnixMilli(),
	}
	if beside {
		return outcome, a.appendBeside(ctx, m)
	}
	_, err = a.Session().AppendMessage(m)
	return outcome, err
}

// appendBeside adds a message to the session that came while a prompt ran: the run adds it
// where it disturbs no call and its result; if the run has ended, it is added now.
func (a *Agent) appendBeside(ctx context.Context, m *message.Message) error {
	for !a.inbox.putBeside(m) {
		if err := a.busy.waitIdle(ctx); err != nil {
			return err
		}
		_, err := a.busy.begin(ctx)
		if errors.Is(err, ErrBusy) {
			continue
		}
		if err != nil {
			return err
		}
		defer a.busy.end()
		_, err = a.Session().AppendMessage(m)
		return err
	}
	return nil
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
