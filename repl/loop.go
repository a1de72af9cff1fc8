package repl

import (
	"context"
	"errors"
	"io"

	"pi/agent"
	"pi/agent/command"
)

// errQuit ends the loop because the person wants to quit.
var errQuit = errors.New("quit")

// loop does one job after the other. It returns nil when the person quits, a hook wants
// the end, or the input ends, else the error that ended it.
func (r *REPL) loop(ctx context.Context) error {
	for {
		err := r.next(ctx)
		switch {
		case errors.Is(err, errQuit), errors.Is(err, io.EOF):
			if r.agentQuits() || r.mayQuit(ctx) {
				return nil
			}
		case err != nil:
			return err
		}
	}
}

// agentQuits reports whether a hook wants the program to end.
func (r *REPL) agentQuits() bool {
	select {
	case <-r.agent.ShutdownRequested():
		return true
	default:
		return false
	}
}

// next waits for something to do and does it: prompts of the command line and of hooks
// come first, then what was typed. The error is errQuit or io.EOF if the person or a
// hook wants to quit, else that of ctx.
func (r *REPL) next(ctx context.Context) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.agentQuits() || r.work.quit.Load() {
			return errQuit
		}
		if p, ok := r.submitted(); ok {
			r.person.closePrompt()
			r.run(ctx, p)
			return nil
		}
		x, ok, ended := r.jobs.take()
		switch {
		case ok:
			r.person.closePrompt()
			r.askedToQuit = false
			r.do(ctx, x)
			return nil
		case ended:
			return io.EOF
		}
		r.keyboard.showQueue()
		r.person.openPrompt()
		select {
		case <-r.jobs.ready:
		case <-r.agent.Inbox().Submitted():
		case <-r.agent.ShutdownRequested():
		case <-r.work.wake:
		case <-ctx.Done():
		}
	}
}

// submitted removes and returns the oldest prompt that was not typed: one of the command
// line, else one of a hook. It is echoed like a typed one.
func (r *REPL) submitted() (agent.Prompt, bool) {
	if len(r.first) > 0 {
		text := r.first[0]
		r.first = r.first[1:]
		p, attached := r.typedPrompt(job{text: text})
		r.echo(p.Text, nil, attached)
		return p, true
	}
	for p := range r.agent.Inbox().TakeSubmitted() {
		p.Source = "hook"
		if p.Text != "" {
			r.echo(p.Text, nil, nil)
		}
		return p, true
	}
	return agent.Prompt{}, false
}

// echo shows a line as a prompt, where a person sees it.
func (r *REPL) echo(text string, shown, attached []string) {
	if r.person.HasUI() {
		r.screen.change(func() { r.screen.echo(text, shown, attached) })
	}
}

// do does a job between two prompts.
func (r *REPL) do(ctx context.Context, x job) {
	if x.run != nil {
		r.runAlone(asPerson(ctx, x.at), x.doing, r.told(x, x.run))
		return
	}
	p, attached := r.typedPrompt(x)
	if (!r.screen.plain || attached != nil) && !x.byKey { // in plain mode the line stands where it was typed
		r.echo(p.Text, x.shown, attached)
	}
	r.runLine(ctx, p, x)
}

// run runs a prompt: a command, a shell command of a person, or a message for the agent.
func (r *REPL) run(ctx context.Context, p agent.Prompt) { r.runLine(ctx, p, job{text: p.Text}) }

// runLine is run for a prompt that was in the line.
func (r *REPL) runLine(ctx context.Context, p agent.Prompt, x job) {
	if p.Custom != nil || p.Literal {
		r.prompt(ctx, p)
		return
	}
	isCommand, err := r.reads(p.Text)
	switch {
	case err != nil:
		r.refuse(x, p.Source == "interactive", err)
	case isShell(p):
		r.shell(ctx, p.Text)
		r.refresh() // it may have changed the branch
	case isCommand:
		r.runAlone(asPerson(ctx, x.at), p.Text, r.told(x, func(ctx context.Context) (command.Outcome, error) {
			return r.commands.Run(r.agent.CommandContext(ctx, p), p.Text)
		}))
	default:
		r.prompt(ctx, p)
	}
}

// told is what a job runs, with what that says shown where the job wants it.
func (r *REPL) told(x job, run func(context.Context) (command.Outcome, error)) func(context.Context) (command.Outcome, error) {
	if !x.inZone || r.screen.isPlain() {
		return run
	}
	return func(ctx context.Context) (command.Outcome, error) {
		out, err := run(ctx)
		if err == nil && !out.Left {
			r.screen.change(func() { r.screen.mention(out.Status) })
			out.Status = ""
		}
		return out, err
	}
}

// runAlone runs a command between two prompts, and then the prompt that its outcome
// has, if any.
func (r *REPL) runAlone(ctx context.Context, doing string, run func(context.Context) (command.Outcome, error)) {
	var wanted *agent.Prompt
	r.work.do(ctx, r.screen, doing, func(ctx context.Context) {
		out, err := run(ctx)
		r.outcome(ctx, out, err, func(_ context.Context, p agent.Prompt) {
			wanted = &p
		})
	})
	r.refresh()
	if wanted != nil {
		r.prompt(ctx, *wanted)
	}
}
