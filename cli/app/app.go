// Package app puts one run of the program together: settings, hooks, models,
// session, agent and front end, in the order in which they need each other.
//
// A [Place] is a directory to work in with what holds there before a session
// begins; commands that ask no model need no more. [Start] runs a session in it.
// Several places, and runs in them, can be made in one process, and be open at the same time:
// only the caller knows the directory of the process.
//
//	options.go     what the command line says of a run
//	place.go       settings, approvals and keys of a directory; environment.go: what it
//	               takes for the variables of the process
//	app.go         from a place to a front end: print.go, rpc.go, interact.go
//	acp.go         sessions for editors; testrun.go: a run that a test drives
//	run.go         a run is opened, and what is made on the way; messages.go: what it
//	               shows the user first; ending.go: it is closed
//	hooks.go       hooks are loaded, and told what is before a session; chain.go: which
//	               hooks there are, and what they are given
//	hookcommand.go /hooks and /reload; hooklist.go: the hooks as a list
//	screen.go      what hooks draw
//	session.go     where sessions are kept; opening.go: which one a run works on
//	model.go       which model it begins with; unattended.go: which may answer
//	               where nobody watches
//	prompt.go      prompts of the command line, and those in files
//	tools.go       the program's tools
//	login.go       /login; copy.go: where /copy puts a text
//	settings.go    settings are written; livesettings.go: those that can change in a run
//	changed.go     whether the status line has a star behind the branch
//	banner.go      what a session in the terminal begins with
//	ask.go         what a user is asked before there is a front end; startdialog.go:
//	               in dialogs; early.go:
//	               by hooks; pending.go: about what waits for approval;
//	               orphans.go: about commands that a killed program left
package app

import (
	"context"
	"errors"
)

// Start runs pi in p, with a terminal or without, as the command line says, until it ends.
func Start(ctx context.Context, p *Place) error {
	if !p.Attended() && p.CatchInterrupts != nil {
		p.CatchInterrupts()
	}
	if p.Login {
		return p.signIn(ctx)
	}
	if p.Mode == modeACP {
		return p.serveACP(ctx)
	}
	r := p.newRun()
	if err := r.approve(ctx); err != nil {
		return err
	}
	switch {
	case p.Attended():
		return r.interact(ctx)
	case p.Mode == modeRPC:
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
