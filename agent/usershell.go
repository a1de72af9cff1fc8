package agent

import (
	"context"
	"errors"

	"pi/session"
	"pi/session/message"
)

// Shell runs a command of the person (not of the model) and reports its output as it
// comes.
type Shell func(ctx context.Context, command string, output func(string)) (BashOutcome, error)

// UserCommand is a shell command of the person.
type UserCommand struct {
	Line    string
	Exclude bool         // the model does not see it
	Output  func(string) // gets what the command prints as it comes; may be nil
	Shell   Shell        // runs the command in place of [Options.Shell], such as with a terminal; may be nil
}

// Bash runs a command of the person and adds it to the session, where the model
// sees it unless that is excluded. Listeners may answer for the command or keep it from
// running. While a prompt runs the command runs beside it, and is added before the next
// request to the model, or at the end of the run.
func (a *Agent) Bash(ctx context.Context, c UserCommand) (BashOutcome, error) {
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
	if c.Output == nil {
		c.Output = func(string) {}
	}
	if c.Shell == nil {
		c.Shell = a.shell
	}
	outcome, err := a.userBash(ctx, c)
	if err != nil {
		return outcome, err
	}
	m := &message.Message{
		Role: message.RoleBashExecution, Command: c.Line, Output: outcome.Output, ExitCode: outcome.ExitCode,
		Cancelled: outcome.Cancelled, Truncated: outcome.Truncated, FullOutputPath: outcome.FullOutputPath,
		ExcludeFromContext: c.Exclude, Timestamp: a.now().UnixMilli(),
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

// userBash has the shell run a command, unless a listener gives a result in its place, blocks it or
// fails: the first that does so decides.
func (a *Agent) userBash(ctx context.Context, c UserCommand) (BashOutcome, error) {
	e := &UserBash{Command: c.Line, ExcludeFromContext: c.Exclude, Cwd: a.cwd}
	err := a.events.emitGate(ctx, e, func() bool { return e.Result != nil || e.Blocked != "" })
	switch {
	case ctx.Err() != nil:
		return BashOutcome{}, ErrAborted
	case err != nil:
		return BashOutcome{}, err
	case e.Blocked != "":
		return BashOutcome{}, errors.New(e.Blocked)
	case e.Result != nil:
		c.Output(e.Result.Output)
		return *e.Result, nil
	}
	return c.Shell(ctx, c.Line, c.Output)
}
