package agent

import (
	"context"
	"errors"
	"fmt"

	"pi/agent/llm"
	"pi/session"
)

// Before a prompt starts a run, there is much that can refuse it. For a front end that
// wants to know (see [Prompt.Accepted]) an interrupt counts until the run begins, also
// where the prompt is in the session already.

// preflight finds out whether a prompt starts a run, and returns it as listeners have
// rewritten it. If not, the error says why; it is nil if a listener handled the prompt.
func (p parts) preflight(ctx context.Context, in Prompt) (_ Prompt, starts bool, err error) {
	if p.conversation.current().ReadOnly() {
		return in, false, session.ErrReadOnly
	}
	handled := false
	if in.Custom == nil && !in.asked {
		in, handled = p.events.askInput(ctx, in, "")
	}
	switch {
	case handled:
		in.accept(Handled)
		return in, false, nil
	case ctx.Err() != nil:
		return in, false, promptAborted{}
	case in.isEmpty():
		return in, false, ErrEmptyPrompt
	}
	if in.Accepted != nil {
		model := p.choice.model()
		if err := p.spending.checkLimit(ctx, model); err != nil {
			return in, false, err
		}
		if _, err := p.choice.models.Key(ctx, model); err != nil {
			if ctx.Err() != nil {
				return in, false, promptAborted{}
			}
			return in, false, &NoKeyError{model.Provider, noKey(model, err)}
		}
	}
	if err := p.inbox.addRequest(in.Origin); err != nil {
		return in, false, err
	}
	in.Attachments = p.images.content(ctx, in.Attachments)
	return in, true, nil
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

// Hint is the next step for the user.
func (e *NoKeyError) Hint() string {
	var known *llm.ProviderError
	if errors.As(e.Err, &known) && known.NextStep != "" {
		return known.NextStep
	}
	return fmt.Sprintf("give %s a key in config.toml, or choose another model", e.Provider)
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
