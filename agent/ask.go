package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"pi/agent/llm"
	"pi/agent/prefix"
	"pi/agent/work"
	"pi/internal/printable"
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
	waiting  work.Interruptible                                     // the wait for another attempt in the conversation
	turn     func(ctx context.Context) (answered func(), err error) // see [ChildOptions.Turn]; nil: nobody waits
}

// send sends a request to model and hands each delta to add, until the answer has ended,
// add returns an error or ctx is done. An agent that another one uses waits for its turn. It is
// an error if the session has no money left,
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
	if a.turn != nil {
		answered, err := a.turn(ctx)
		if err != nil {
			return err
		}
		defer answered()
	}
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

// withoutThoughts returns the request to make instead of r, which failed with err: r
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

// wireKey marks the context in which listeners look at a request: requests that they
// send meanwhile are not shown to them.
type wireKey struct{}

// watch sets callbacks of r that show listeners the body, the headers and the response as
// they go over the wire. It does nothing for a request that a listener makes while it
// handles such an event, which would have no end. r must not be changed afterwards.
func (a *asker) watch(ctx context.Context, r *llm.Request) {
	if ctx.Value(wireKey{}) != nil {
		return
	}
	if a.events.wants(KindBeforeProviderRequest) {
		r.Body = func(ctx context.Context, body []byte) ([]byte, error) { return a.changeBody(ctx, r, body) }
	}
	if a.events.wants(KindBeforeProviderHeaders) {
		r.Header = func(ctx context.Context, h http.Header) error { return a.changeHeaders(ctx, r, h) }
	}
	if a.events.wants(KindAfterProviderResponse) {
		r.Response = func(ctx context.Context, status int, h http.Header) {
			a.events.emit(onWire(ctx), &AfterProviderResponse{Provider: r.Model.Provider, Model: r.Model.ID, Status: status, Headers: h})
		}
	}
}

// onWire marks ctx as that of listeners to a request, so that requests which they make
// themselves emit no such events, which could go on for ever.
func onWire(ctx context.Context) context.Context { return context.WithValue(ctx, wireKey{}, true) }

// changeBody lets the listeners change the body of a request and returns the one to send. A body
// that nobody changed is returned byte for byte. The error says that a listener left no
// JSON object.
func (a *asker) changeBody(ctx context.Context, r *llm.Request, body []byte) ([]byte, error) {
	e := &BeforeProviderRequest{Provider: r.Model.Provider, Model: r.Model.ID, Payload: bytes.Clone(body)}
	a.events.emit(onWire(ctx), e)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	a.sent.noteBody(r, body, e.Stages)
	if bytes.Equal(e.Payload, body) {
		return body, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(e.Payload, &object); err != nil {
		return nil, fmt.Errorf("%s: the payload is no JSON object any more: %w", e.Kind(), err)
	}
	if object == nil {
		return nil, errors.New(e.Kind().String() + ": the payload is no JSON object any more, but null")
	}
	return e.Payload, nil
}

// changeHeaders lets the listeners change h in place. They see a placeholder instead of secrets,
// and one that they give back as it was changes nothing.
func (a *asker) changeHeaders(ctx context.Context, r *llm.Request, h http.Header) error {
	e := &BeforeProviderHeaders{Provider: r.Model.Provider, Model: r.Model.ID, Headers: shownHeaders(h, r.APIKey)}
	a.events.emit(onWire(ctx), e)
	for name, value := range e.Changed {
		switch name = http.CanonicalHeaderKey(name); {
		case value == nil:
			h.Del(name)
			if name == "User-Agent" {
				h[name] = nil // else the client puts its own
			}
		case *value != hiddenValue || e.Headers[name] != hiddenValue: // a value as it was shown is no change
			h.Set(name, *value)
		}
	}
	return ctx.Err()
}

// hiddenValue is shown instead of the key and of all other values that give access.
const hiddenValue = "…"

// shownHeaders returns headers as listeners may see them, with a placeholder for values
// that have the key in them or usually carry one.
func shownHeaders(h http.Header, key string) map[string]string {
	shown := make(map[string]string, len(h))
	for name, values := range h {
		value := strings.Join(values, ", ")
		if key != "" && strings.Contains(value, key) || printable.CarriesKey(name) {
			value = hiddenValue
		}
		shown[name] = value
	}
	return shown
}

// lastSent is what was sent last. The zero value is ready; all methods may be called
// from any goroutine.
type lastSent struct {
	prefix prefix.Log
	mu     sync.Mutex   // guards last
	last   *sentRequest // of a conversation
}

// sentRequest is a request of the conversation, and what it was made of. Nothing in
// it changes.
type sentRequest struct {
	session *session.Session
	system  promptText
	chain   chained
	answer  string // the id of its entry; "": none yet

	asked *llm.Request
	wish  string // how much the model is to think
	tools []Tool // of asked, in the same order
	by    string // the hook that chose them
}

// requestOf returns the last request that was sent for s; nil if the last request was for another
// session, or there was none.
func (l *lastSent) requestOf(s *session.Session) *sentRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.last.session != s {
		return nil
	}
	return l.last
}

// noteRequest remembers is, which is about to be sent, and compares it with the
// request before, to find the hook because of which a provider cannot use its cache.
func (l *lastSent) noteRequest(is *sentRequest) {
	l.mu.Lock()
	l.last = is
	l.mu.Unlock()
	r := is.asked
	begin := &prefix.Request{Session: is.session, ToolsBy: is.by, Messages: r.Messages,
		System: prefix.Stages[string]{Base: is.system.base, Each: is.system.stages},
		Items:  prefix.Stages[[]session.Item]{Base: is.chain.core, Each: is.chain.stages}}
	for i, t := range is.tools {
		begin.Tools = append(begin.Tools, prefix.Tool{Spec: r.Tools[i], By: sourceOf(t)})
	}
	l.prefix.NoteRequest(begin)
}

// noteBody notes the body of r before the listeners, and as each left it.
func (l *lastSent) noteBody(r *llm.Request, body json.RawMessage, stages []PayloadStage) {
	l.prefix.NoteBody(r.Model, r.Messages, prefix.Stages[json.RawMessage]{Base: body, Each: stages})
}

// noteAnswer adds the id of the entry with the answer to the last request, which is
// replaced by a copy, for others may be reading it.
func (l *lastSent) noteAnswer(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil {
		next := *l.last
		next.answer = id
		l.last = &next
	}
}

// Sourced is a Tool that knows which hook brought it.
type Sourced interface{ Source() string }

// sourceOf returns the hook that brought a tool; "" for a tool of the program.
func sourceOf(t Tool) string {
	if s, ok := t.(Sourced); ok {
		return s.Source()
	}
	return ""
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
