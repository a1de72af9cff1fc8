package agent

import (
	"context"
	"errors"

	"pi/agent/shell"
	"pi/agent/work"
)

type (
	// Shell runs a command of the person (not of the model) and reports its output as it
	// comes.
	Shell = shell.Shell
	// UserCommand is a shell command of the person.
	UserCommand = shell.Command
	// BashOutcome is how a shell command of the person ended.
	BashOutcome = shell.Outcome
)

// Bash runs a command of the person and adds it to the session, where the model
// sees it unless that is excluded. Listeners may rewrite the command, answer for it or keep
// it from running. While a prompt runs the command runs beside it, and is added before the
// next request to the model, or at the end of the run.
//
// A Detached command, which [Agent.Abort] does not end, that was ended has Cancelled in its
// outcome, and no error.
func (a *Agent) Bash(ctx context.Context, c UserCommand) (BashOutcome, error) {
	outcome, err := a.userShell.Do(ctx, c)
	if errors.Is(err, work.ErrClosed) {
		err = ErrEnded
	}
	return outcome, err
}

// AbortBash ends all commands of the person, and does not wait.
func (a *Agent) AbortBash() { a.userShell.Abort() }

// newUserShell makes what runs the commands of the person.
func newUserShell(p *parts, o Options, busy *work.Claim) *shell.Commands {
	events := p.events
	return &shell.Commands{Options: shell.Options{
		Ask: func(ctx context.Context, c UserCommand) (string, *BashOutcome, error) {
			return events.askUserBash(ctx, &UserBash{Command: c.Line, ExcludeFromContext: c.Exclude, Cwd: o.Cwd})
		},
		Shell: o.Shell, Busy: busy, Session: p.conversation.current, KeepBeside: p.inbox.putBeside, TakeBeside: p.inbox.takeBeside, Now: o.Now,
		Tell: func(text string) { events.Notify(context.Background(), LevelError, text) },
	}}
}

// askUserBash returns the command that is to run, or the outcome that a listener has in its
// place. The error is that of the first that blocks or fails, or of an interrupt.
func (ls *listeners) askUserBash(ctx context.Context, e *UserBash) (string, *BashOutcome, error) {
	err := ls.emitGate(ctx, e, func() bool { return e.Result != nil || e.Blocked != "" })
	switch {
	case ctx.Err() != nil:
		err = ErrAborted
	case err == nil && e.Blocked != "":
		err = errors.New(e.Blocked)
	}
	return e.Command, e.Result, err
}
