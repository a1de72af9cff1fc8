package command

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"pi/agent"
)

// Driver does for a front end what a user, a program or a hook wants done: a command, else
// a prompt for the model; then what came of the command; then what hooks have submitted. The
// front end says how each is done and shown. A Driver may be used by any goroutine if its
// functions may.
type Driver struct {
	Agent    *agent.Agent
	Commands *Set

	// Prepare, if set, gets a prompt that is no command before Ask does: it adds what goes along
	// with that, or shows it.
	Prepare func(agent.Prompt) agent.Prompt
	// Ask has the agent work on a prompt, and shows how that ends.
	Ask func(ctx context.Context, p agent.Prompt) error
	// Await is Ask for a prompt that a command waits for, see [agent.Prompter]; nil: Ask does.
	Await func(ctx context.Context, p agent.Prompt) error
	// Joins is what [agent.Prompter] has of that name; it may be nil.
	Joins func(ctx context.Context) (left func())
	// Act calls run, which is a command or the action of a key that doing names, and shows
	// what came of it. Of the outcome that it returns the prompt is left to do.
	Act func(ctx context.Context, doing string, run Action) (Outcome, error)
}

// Action does something that has an outcome, such as a command.
type Action func(context.Context) (Outcome, error)

// FailedError is the failure of a command; Name is without the slash.
type FailedError struct {
	Name string
	Err  error
}

func (e *FailedError) Error() string { return fmt.Sprintf("/%s: %v", e.Name, e.Err) }

func (e *FailedError) Unwrap() error { return e.Err }

// Run does what p says, as a command or as a prompt. The error is one of Ask, of
// [Driver.ReadLine] or of [Driver.RunCommand].
func (d Driver) Run(ctx context.Context, p agent.Prompt) error {
	l := d.ReadLine(ctx, p, "")
	switch {
	case l.Is == RefusedLine:
		return l.Err
	case l.Is == HandledLine && ctx.Err() != nil:
		return agent.ErrAborted
	case l.Is == HandledLine:
		return nil
	case l.Is == CommandLine:
		return d.RunCommand(ctx, l.Prompt)
	case d.Prepare != nil:
		l.Prompt = d.Prepare(l.Prompt)
	}
	return d.Ask(ctx, l.Prompt)
}

// IsCommand reports whether p is to be run as a command; the error is one of [Set.Reads].
func (d Driver) IsCommand(p agent.Prompt) (bool, error) {
	if p.Literal || p.Custom != nil {
		return false, nil
	}
	return d.Commands.Reads(p.Text)
}

// RunCommand runs the command p, and asks the model what it wants asked. The error is one of
// Act or Ask; what the command itself failed with is a *[FailedError], unless it is a
// *[CancelledError].
func (d Driver) RunCommand(ctx context.Context, p agent.Prompt) error {
	var failed error
	err := d.Do(ctx, p.Text, func(ctx context.Context) (o Outcome, _ error) {
		o, failed = d.Commands.Run(d.Agent.CommandContext(ctx, p), p.Text)
		if o.Prompt != nil {
			o.Prompt.Attachments = append(slices.Clip(o.Prompt.Attachments), p.Attachments...)
		}
		return o, failed
	})
	var cancelled *CancelledError
	if err == nil || failed == nil || errors.As(err, &cancelled) {
		return err
	}
	name, _ := Split(p.Text)
	return &FailedError{Name: name, Err: err}
}

// Do runs a command, or does what a key stands for, and asks the model what that wants asked.
// The error is one of Act or Ask.
func (d Driver) Do(ctx context.Context, doing string, run Action) error {
	o, err := d.Act(ctx, doing, func(ctx context.Context) (Outcome, error) { return run(d.prompting(ctx)) })
	if err != nil || o.Prompt == nil {
		return err
	}
	return d.Ask(ctx, *o.Prompt)
}

// prompting returns the context of a command that may have prompts worked on and wait for
// that.
func (d Driver) prompting(ctx context.Context) context.Context {
	by := agent.Prompter{Prompt: d.Ask}
	if d.Await != nil {
		by.Prompt = d.Await
	}
	if d.Joins != nil {
		by.Joins = func() (left func()) { return d.Joins(ctx) }
	}
	return agent.WithPrompter(ctx, by)
}

// Submitted removes and returns what hooks have submitted, oldest first, until none is left.
func (d Driver) Submitted() iter.Seq[agent.Prompt] {
	return func(yield func(agent.Prompt) bool) {
		for p := range d.Agent.Inbox().TakeSubmitted() {
			p.Source = "hook"
			if !yield(p) {
				return
			}
		}
	}
}

// IsStopped reports whether a hook wants the program to end: then nothing more is to be done.
func (d Driver) IsStopped() bool {
	select {
	case <-d.Agent.ShutdownRequested():
		return true
	default:
		return false
	}
}
