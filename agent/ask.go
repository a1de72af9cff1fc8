package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"pi/agent/llm"
	"pi/agent/work"
	"pi/session"
	"pi/session/message"
)

// A model is asked in the conversation (answer.go) and outside of it: by hooks
// ([Agent.Complete]) and for summaries. Both send a request with [asker.send], and send
// it again with [tries] if it fails for a passing reason.

// limitOfAnswer is the [LimitError.Limit] of an answer that is too long.
const limitOfAnswer = "max_answer_bytes"

// asker sends requests to models. All methods may be called from any goroutine.
type asker struct {
	events   *listeners
	models   *llm.Models
	sent     *lastSent
	spending *spending
	now      func() time.Time
	settings *inForce
	refused  llm.RefusedThoughts
	unasked  llm.RefusedLevels
	waiting  work.Interruptible // the wait for another attempt in the conversation
}

// send sends a request to model and hands each delta to add, until the answer has ended,
// add returns an error or ctx is done. It is an error if the session has no money left,
// if the server is silent for too long (see [llm.WithPatience]) or if the answer is
// too long (see limits.go). build makes the request, once client and key are there; key,
// if it is not empty, is sent instead of the model's own. A request whose thoughts, or whose
// level of thinking, the server refuses is made again without them. The errors are
// *[llm.ProviderError] or *[LimitError], also where something crashes.
func (a *asker) send(ctx context.Context, model *llm.Model, key string, build func() *llm.Request, add func(llm.Delta) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the client crashed: %v", p)
		}
		var known *llm.ProviderError
		var limit *LimitError
		if err != nil && !errors.As(err, &known) && !errors.As(err, &limit) {
			err = &llm.ProviderError{Provider: model.Provider, Message: err.Error(), Err: err}
		}
	}()
	if err := a.spending.checkLimit(ctx, model); err != nil {
		return err
	}
	client, err := a.models.Client(model)
	if err != nil {
		return err
	}
	if key == "" {
		if key, err = a.models.Key(ctx, model); err != nil {
			return noKey(model, err)
		}
	}
	r := build()
	r.APIKey, r.MaxAnswer, r.Refused = key, a.settings.get().MaxAnswerBytes, a.refused.Known()
	if a.unasked.Has(r) {
		r.Thinking, r.Off = "", false
	}
	a.watch(ctx, r)
	if err := ctx.Err(); err != nil {
		return err
	}
	begun, err := a.stream(ctx, client, r, add)
	if !begun {
		if again := a.withoutThoughts(ctx, r, err); again != nil {
			r = again
			begun, err = a.stream(ctx, client, r, add)
		}
	}
	var failed *llm.ProviderError
	if !begun && errors.As(err, &failed) && failed.NoLevel && r.Thinking != "" && ctx.Err() == nil {
		return a.sendWithoutLevel(ctx, client, r, failed, add)
	}
	return err
}

// withoutThoughts returns the request to make in place of r, which failed with err: r
// without its thoughts, if the server has refused them, and the user is told. It is nil
// for any other error, and where r had no thoughts. Clients ask servers to leave out what
// does not fit, but not every server knows of that, and not every model is known.
func (a *asker) withoutThoughts(ctx context.Context, r *llm.Request, err error) *llm.Request {
	var failed *llm.ProviderError
	if !errors.As(err, &failed) || !failed.Unfit || ctx.Err() != nil || !a.refused.Note(r) {
		return nil
	}
	a.events.notifyf(ctx, LevelWarning, "earlier thoughts of %s did not fit the conversation any more, and its server refused them: asked again without them%s", r.Model.Ref(), inBrackets(failed.NextStep))
	again := *r
	again.Refused = a.refused.Known()
	return &again
}

// sendWithoutLevel sends r without a word of the level of thinking for which it was refused.
// If that is answered, the level was the reason: it is not asked for again, and the user is
// told.
func (a *asker) sendWithoutLevel(ctx context.Context, client llm.Provider, r *llm.Request, refused *llm.ProviderError, add func(llm.Delta) error) error {
	without := *r
	without.Thinking, without.Off = "", false
	begun, err := a.stream(ctx, client, &without, add)
	if !begun && err != nil {
		return err
	}
	a.unasked.Note(r)
	a.events.notifyf(ctx, LevelWarning, "the server of %s refused thinking %s: asked again without a word of it, so the model thinks or not as it likes%s", r.Model.Ref(), r.Thinking, inBrackets(refused.NextStep))
	return err
}

// inBrackets is a hint as the end of a sentence; "" if there is none.
func inBrackets(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}

// stream sends r once, for [asker.send]. begun says that a part of the answer was added. A
// model that ends its answer with a refusal or a failure is an error.
func (a *asker) stream(ctx context.Context, client llm.Provider, r *llm.Request, add func(llm.Delta) error) (begun bool, err error) {
	var size answerSize
	var stop llm.Stop
	for d, err := range llm.WithPatience(ctx, client, r, a.settings.get().Patience) {
		switch {
		case errors.Is(err, llm.ErrAnswerTooLong) || err == nil && size.exceeds(r.MaxAnswer, d):
			return begun, &LimitError{limitOfAnswer, fmt.Sprintf("stopped: the answer of %s is longer than %d bytes (max_answer_bytes in config.toml; 0: no limit)",
				r.Model.Ref(), r.MaxAnswer)}
		case err != nil:
			return begun, err
		case ctx.Err() != nil:
			return begun, ctx.Err()
		case d.Kind == llm.DeltaStop:
			stop = d.Stop
		}
		begun = begun || d.Kind != llm.DeltaPing
		if err := add(d); err != nil {
			return begun, err
		}
	}
	switch stop.Reason {
	case "":
		return begun, &llm.ProviderError{Provider: r.Model.Provider, Message: "the answer was cut off", Retryable: true, Err: ctx.Err()}
	case llm.StopRefusal, message.StopError, message.StopAborted:
		words := cmp.Or(stop.Message, "the model ended its answer as "+string(stop.Reason))
		return begun, &llm.ProviderError{Provider: r.Model.Provider, Type: stop.Raw, Message: words, Retryable: stop.Retryable, Refused: stop.Reason == llm.StopRefusal}
	}
	return begun, nil
}

// askOutside asks a model outside of the conversation, again if it fails for a reason
// that may pass. The message has the answer as far as it came and its usage, also with
// an error, which is one of [asker.send], or ErrAborted once ctx has ended.
func (a *asker) askOutside(ctx context.Context, r *llm.Request) (*message.Message, llm.Stop, error) {
	return a.streamOutside(ctx, r, nil)
}

// streamOutside is askOutside with [Completion.Update], which may be nil. A call of which
// that got a part is not made again.
func (a *asker) streamOutside(ctx context.Context, r *llm.Request, update func(d llm.Delta, position int) error) (*message.Message, llm.Stop, error) {
	r.Thinking = llm.Clamp(r.Model, r.Thinking)
	key := r.APIKey
	var answer llm.Assembly
	t := &tries{asker: a, outside: true}
	err := t.repeat(ctx, func() (*llm.Model, *llm.Assembly, error) {
		answer, r.Fresh = llm.Assembly{}, t.lost
		shown := false
		err := a.send(ctx, r.Model, key, func() *llm.Request { return r }, func(d llm.Delta) error {
			answer.Add(d)
			if update == nil || d.Kind != llm.DeltaText && d.Kind != llm.DeltaThinking && d.Kind != llm.DeltaToolCall {
				return nil
			}
			shown = true
			return update(d, answer.Position(d))
		})
		if failed := transient(err); failed != nil && shown {
			once := *failed
			once.Retryable, err = false, &once
		}
		return r.Model, &answer, err
	})
	t.emitEnd(ctx, err)
	if ctx.Err() != nil {
		err = ErrAborted
	}
	return a.assembled(r.Model, &answer), answer.Stop(), err
}

// assembled returns what assembly has of an answer of model so far, as an assistant
// message with a usage that is never nil.
func (a *asker) assembled(model *llm.Model, assembly *llm.Assembly) *message.Message {
	content, _ := assembly.Content()
	m := &message.Message{Role: message.RoleAssistant, API: model.API, Provider: model.Provider, Model: model.ID,
		Content: content, Usage: assembly.Usage(), Timestamp: a.now().UnixMilli()}
	if m.Usage == nil {
		m.Usage = &message.Usage{}
	}
	return m
}

// noKey returns the error for a model whose key was not found, with what to set in
// config.toml. An err that is a *[llm.ProviderError] is returned as it is, for it says
// better where the key should come from.
func noKey(model *llm.Model, err error) error {
	var known *llm.ProviderError
	if errors.As(err, &known) {
		return err
	}
	return &llm.ProviderError{Provider: model.Provider, Message: err.Error(), Err: err,
		NextStep: fmt.Sprintf("check api_key of [providers.%s] in config.toml", model.Provider)}
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
	// Update gets the text, the thinking and the arguments of calls as they come, with the
	// position of their block, from 0. ErrEnough ends the answer where it is; any other
	// error is one of the call. May be nil.
	Update func(d llm.Delta, position int) error
}

// ErrEnough is what [Completion.Update] returns when no more of an answer is wanted.
var ErrEnough = errors.New("no more is wanted")

// Complete asks a model outside of the conversation and returns its answer. What
// it used is recorded in the session as a usage entry of the kind "hook", also of
// an answer that failed on the way. A call that failed for a passing reason is made
// again, as in a conversation, unless a part of its answer was handed on.
//
// The provider events come, for the request goes over the same wire, except for
// what listeners to these events ask themselves. Message and context events do
// not. The error is ErrAborted once ctx has ended, a *[llm.ProviderError], a
// *[LimitError], or says that there is nothing to ask.
func (a *Agent) Complete(ctx context.Context, c Completion) (*message.Message, error) {
	model := c.Model
	if model == nil {
		model = a.choice.model()
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
	m, stop, err := a.asker.streamOutside(ctx, r, c.Update)
	a.spending.record(ctx, session.UsageEntry{Kind: "hook", Provider: model.Provider, Model: model.ID, Usage: m.Usage, Note: c.By})
	if err != nil && !errors.Is(err, ErrEnough) {
		return nil, err
	}
	if err != nil {
		stop.Reason = message.StopAborted
	}
	if m.StopReason = stop.Reason; m.StopReason == llm.StopPause {
		m.StopReason = message.StopEnd
	}
	return m, nil
}
