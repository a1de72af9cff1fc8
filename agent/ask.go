package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// A model is asked in the conversation (answer.go) and outside of it: by hooks
// ([Agent.Complete]) and for summaries (compact_write.go). Both send a request with
// [Agent.send], and send it again with [tries] if it fails for a passing reason.

// send sends r and hands what comes to take, until the answer has ended, take
// returns an error or ctx is done. It is an error if the session has no money left,
// if the server is silent for too long (see [llm.WithIdleTimeout]) or if the answer
// is too long (see limits.go). sending is called when there is all that it takes to send
// it; it may be nil. The errors are *[llm.ProviderError] or *[LimitError].
func (a *Agent) send(ctx context.Context, r *llm.Request, sending func(), take func(llm.Delta) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the client crashed: %v", p)
		}
		err = typed(r.Model, err)
	}()
	if err := a.costLimit(ctx, r.Model); err != nil {
		return err
	}
	client, err := a.models.Client(r.Model)
	if err != nil {
		return err
	}
	if r.APIKey == "" {
		if r.APIKey, err = a.models.Key(ctx, r.Model); err != nil {
			return noKey(r.Model, err)
		}
	}
	if sending != nil {
		sending()
	}
	r.MaxAnswer = a.settings.MaxAnswerBytes
	tap := &wiretap{a.listeners, &a.sent}
	tap.watch(ctx, r)
	if err := ctx.Err(); err != nil {
		return err
	}
	var size answerSize
	var stop llm.Stop
	for d, err := range llm.WithIdleTimeout(ctx, client, r, a.settings.StreamIdleTimeout) {
		switch {
		case errors.Is(err, llm.ErrAnswerTooLong) || err == nil && size.exceeds(r.MaxAnswer, d):
			return answerTooLong(r)
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.Kind == llm.DeltaStop:
			stop = d.Stop
		}
		if err := take(d); err != nil {
			return err
		}
	}
	if stop.Reason == "" {
		return &llm.ProviderError{Provider: r.Model.Provider, Message: "the answer was cut off", Retryable: true, Err: ctx.Err()}
	}
	return refusedBy(r.Model, stop)
}

// askAside asks a model outside of the conversation, again if it fails for a reason
// that may pass, and takes the answer in. The errors are those of [Agent.send].
func (a *Agent) askAside(ctx context.Context, r *llm.Request, into *llm.Assembly) (err error) {
	r.Thinking = llm.Clamp(r.Model, r.Thinking)
	t := &tries{Agent: a, aside: true}
	defer func() { t.over(ctx, err) }()
	return t.repeat(ctx, func() (*llm.Model, *llm.Assembly, error) {
		*into, r.Fresh = llm.Assembly{}, t.lost
		return r.Model, into, a.send(ctx, r, nil, func(d llm.Delta) error { into.Add(d); return nil })
	})
}

// noKey is a key that could not be had; whoever knows better where it should
// come from returned a *[llm.ProviderError] of its own.
func noKey(model *llm.Model, err error) error {
	var known *llm.ProviderError
	if errors.As(err, &known) {
		return err
	}
	return &llm.ProviderError{Provider: model.Provider, Message: err.Error(), Err: err,
		NextStep: fmt.Sprintf("check api_key of [providers.%s] in config.toml", model.Provider)}
}

// typed makes every failure of a model call one of its provider, but for a limit.
func typed(model *llm.Model, err error) error {
	var known *llm.ProviderError
	var limit *LimitError
	if err == nil || errors.As(err, &known) || errors.As(err, &limit) {
		return err
	}
	return &llm.ProviderError{Provider: model.Provider, Message: err.Error(), Err: err}
}

// refusedBy is the failure that a finished answer may be.
func refusedBy(model *llm.Model, stop llm.Stop) error {
	switch stop.Reason {
	case llm.StopRefusal, message.StopError, message.StopAborted:
	default:
		return nil
	}
	words := cmp.Or(stop.Message, "the model ended its answer as "+string(stop.Reason))
	return &llm.ProviderError{Provider: model.Provider, Type: stop.Raw, Message: words, Retryable: stop.Retryable}
}

// Completion is one model call outside of the conversation.
type Completion struct {
	Model     *llm.Model // nil: the current one
	System    string
	Messages  []session.Item
	Tools     []llm.ToolSpec // the model may call them; nobody runs them
	APIKey    string         // instead of the model's own
	MaxTokens int            // 0: the model's own limit
	Thinking  string         // "": off
	By        string         // who asks; noted in the usage entry
}

// Complete asks a model outside of the conversation and returns its answer. What
// it used is recorded in the session as a usage entry of the kind "hook", also of
// an answer that failed on the way. A call that failed for a passing reason is made
// again, as in a conversation.
//
// The provider events come, for the request goes over the same wire, except for
// what listeners to these events ask themselves. Message and context events do
// not. The error is ErrAborted once ctx has ended, a *[llm.ProviderError], a
// *[LimitError], or says that there is nothing to ask.
func (a *Agent) Complete(ctx context.Context, c Completion) (*message.Message, error) {
	model := c.Model
	if model == nil {
		model = a.Model()
	}
	messages := a.Session().ForModel(c.Messages)
	if len(messages) == 0 {
		return nil, errors.New("complete: no messages")
	}
	r := &llm.Request{Model: model, System: c.System, Messages: messages, Tools: c.Tools, APIKey: c.APIKey,
		Thinking: cmp.Or(c.Thinking, "off"), MaxTokens: cmp.Or(c.MaxTokens, model.MaxTokens)}
	if !llm.ValidThinking(r.Thinking) {
		return nil, fmt.Errorf("complete: unknown thinking level %q", r.Thinking)
	}
	var answer llm.Assembly
	err := a.askAside(ctx, r, &answer)
	m := a.assembled(model, &answer)
	noted := a.recordUsage(session.UsageEntry{Kind: "hook", Provider: model.Provider, Model: model.ID, Usage: m.Usage, Note: c.By})
	if noted != nil {
		a.Notify(context.WithoutCancel(ctx), LevelWarning, noted.Error())
	}
	switch {
	case ctx.Err() != nil:
		return nil, ErrAborted
	case err != nil:
		return nil, err
	}
	if m.StopReason = answer.Stop().Reason; m.StopReason == llm.StopPause {
		m.StopReason = message.StopEnd
	}
	return m, nil
}
