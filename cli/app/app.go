// Package app puts one run of the program together: settings, hooks, models,
// session, agent and front end, in the order in which they need each other.
//
// A [Place] is a directory to work in with what holds there before a session
// begins; commands that ask no model need no more. [Start] runs a session in it.
// Several places, and runs in them, can be made in one process, and be open at the same time:
// only the caller knows the directory of the process.
//
//	options.go     what the command line says of a run
//	place.go       settings, approvals and keys of a directory, and what it takes for the
//	               variables of the process
//	app.go         from a place to a front end: print.go, rpc.go, interact.go; errors
//	acp.go         sessions for editors; testrun.go: a run that a test drives
//	run.go         a run is opened, and what is made on the way; ending.go: it is closed
//	hooks.go       hooks are loaded, and told what is before a session; chain.go: which
//	               hooks there are, and what they are given
//	hookcommand.go /hooks and /reload; hooklist.go: the hooks as a list
//	screen.go      what hooks draw
//	session.go     where sessions are kept; opening.go: which one a run works on
//	model.go       which model it begins with; unattended.go: which may answer
//	               where nobody watches
//	prompt.go      prompts of the command line, of standard input, and those in files
//	tools.go       the program's tools
//	login.go       /login
//	settings.go    settings are written, and those that can change in a run
//	ask.go         what a user is asked before there is a front end; startdialog.go:
//	               in dialogs; early.go:
//	               by hooks; pending.go: about what waits for approval;
//	               orphans.go: about commands that a killed program left
package app

import (
	"context"
	"errors"
	"time"

	"pi/agent"
	"pi/session"
)

// Start runs pi in p, with a terminal or without, as the command line says, until it ends, or
// its time is up: then the error is a *[agent.TimeError].
func Start(ctx context.Context, p *Place) error {
	if p.Limits.Time == 0 {
		return p.start(ctx)
	}
	over := &agent.TimeError{Limit: p.Limits.Time}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	left := p.Limits.Time - time.Since(p.Began)
	defer time.AfterFunc(left, func() { end(over) }).Stop()
	if p.Overdue != nil {
		defer time.AfterFunc(left+endPatience, p.Overdue).Stop()
	}
	err := p.start(ctx)
	if context.Cause(ctx) != over || !errors.Is(err, agent.ErrAborted) && !errors.Is(err, context.Canceled) {
		return err
	}
	if unsaved, ok := errors.AsType[*session.SaveError](err); ok {
		return errors.Join(over, unsaved)
	}
	return over
}

// endPatience is how long a run whose time is up may take to end in order.
const endPatience = 10 * time.Second

func (p *Place) start(ctx context.Context) error {
	if !p.Attended() && p.CatchInterrupts != nil {
		p.CatchInterrupts()
	}
	if p.Login {
		return p.signIn(ctx)
	}
	if p.Mode == ModeACP {
		return p.serveACP(ctx)
	}
	r := p.newRun()
	if err := r.approve(ctx); err != nil {
		return err
	}
	switch {
	case p.Attended():
		return r.interact(ctx)
	case p.Mode == ModeRPC:
		return r.rpc(ctx)
	}
	return r.print(ctx)
}

// approve asks about changes that wait for approval, after which the settings may be others.
// It fails where nobody can be asked, or if the command line names a file that is not there.
// It comes before open.
func (r *run) approve(ctx context.Context) error {
	p := r.place
	r.askOrphans(ctx)
	if settings, err := r.approvePending(ctx); err != nil {
		return err
	} else if settings {
		p.readSettings()
		r.sessions = p.Sessions()
	}
	return errors.Join(p.checkNamedHooks(), p.checkNamedPrompts())
}

// ErrReported is an error whose text the user has seen: only the exit status tells
// of it.
var ErrReported = errors.New("reported")

// UsageError is a mistake on the command line.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// SessionError is a session that cannot be opened or read, for whatever reason.
type SessionError struct{ Err error }

func (e SessionError) Error() string { return e.Err.Error() }

func (e SessionError) Unwrap() error { return e.Err }
