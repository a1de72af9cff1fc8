package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/agent/llm"
	"pi/session"
)

// Before a prompt starts a run, there is much that can refuse it. For a front end that
// wants to know (see [Prompt.Accepted]) an interrupt counts until the run begins, also
// where the prompt is in the session already.

// preflight decides whether a prompt starts a run.
type preflight struct {
	events       *listeners
	conversation *conversation
	choice       *choice
	spending     *spending
	inbox        *Inbox
}

// check finds out whether a prompt starts a run, and returns it as listeners have
// rewritten it. If not, the error says why; it is nil if a listener handled the prompt.
func (f preflight) check(ctx context.Context, p Prompt) (_ Prompt, starts bool, err error) {
	if f.conversation.current().ReadOnly() {
		return p, false, session.ErrReadOnly
	}
	handled := false
	if p.Custom == nil && !p.asked {
		p, handled = f.events.askInput(ctx, p, "")
	}
	switch {
	case handled:
		p.accept(Handled)
		return p, false, nil
	case ctx.Err() != nil:
		return p, false, promptAborted{}
	case p.isEmpty():
		return p, false, ErrEmptyPrompt
	}
	if p.Accepted != nil {
		if err := cmp.Or(f.spending.checkLimit(ctx, f.choice.model()), f.findKey(ctx)); err != nil {
			return p, false, err
		}
	}
	if err := f.inbox.addRequest(p.Origin); err != nil {
		return p, false, err
	}
	p.Attachments = f.conversation.images.Content(ctx, p.Attachments)
	return p, true, nil
}

// askInput lets listeners rewrite a prompt or handle it themselves. behavior says how it
// comes while the agent works, see [Queue.String]; else it is "".
func (ls *listeners) askInput(ctx context.Context, p Prompt, behavior string) (_ Prompt, handled bool) {
	if !ls.wants(KindInput) {
		return p, false
	}
	e := &Input{Text: p.Text, Attachments: p.Attachments, Source: p.Source, StreamingBehavior: behavior}
	ls.emit(ctx, e)
	p.Text, p.Attachments = e.Text, e.Attachments
	return p, e.Handled
}

// promptAborted is the error of a prompt that was interrupted before its run began.
type promptAborted struct{}

func (promptAborted) Error() string { return "Prompt aborted" }
func (promptAborted) Unwrap() error { return ErrAborted }

// NoKeyError refuses a prompt because the provider of its model has no key.
type NoKeyError struct {
	Provider string
	Err      error
}

func (e *NoKeyError) Error() string {
	text := "No API key found for " + e.Provider
	var known *llm.ProviderError
	if errors.As(e.Err, &known) && known.Message != "" {
		text += ": " + known.Message
	}
	return text
}

func (e *NoKeyError) Unwrap() error { return e.Err }

// Hint is the next step for the person.
func (e *NoKeyError) Hint() string {
	var known *llm.ProviderError
	if errors.As(e.Err, &known) && known.NextStep != "" {
		return known.NextStep
	}
	return fmt.Sprintf("give %s a key in config.toml, or choose another model", e.Provider)
}

// findKey returns a *[NoKeyError] if the model that is asked next has no key.
func (f preflight) findKey(ctx context.Context) error {
	model := f.choice.model()
	_, err := f.choice.models.Key(ctx, model)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return promptAborted{}
	}
	return &NoKeyError{model.Provider, noKey(model, err)}
}

// takeBack moves the leaf to where it was before the prompt, whose entries stay in the
// file, and of whose messages front ends are not told. The move is recorded as one that
// [Agent.Redo] takes back.
func (r *run) takeBack(ctx context.Context, before string) error {
	s := r.conversation.current()
	left := s.Leaf()
	_, err := s.MoveTo(before, leafMoved(LeafNote{"undo", left}))
	r.news.refuse()
	r.conversation.forgetChain()
	r.events.emitAfter(ctx, KindSessionTree, func() Event { return &SessionTree{NewLeafID: s.EndOf(before), OldLeafID: left} })
	return r.noteSaved(err)
}
