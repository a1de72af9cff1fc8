package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"pi/agent/llm"
	"pi/agent/prefix"
	"pi/internal/printable"
	"pi/session"
)

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

// hiddenValue is shown instead of the key and of all other values that give access.
const hiddenValue = "…"

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

// sentRequest is a request of the conversation, and what it was made of. Nothing in
// it changes.
type sentRequest struct {
	session *session.Session
	system  promptText
	chain   chained
	answer  string // the id of its entry; "": none yet
}

// lastSent is what was sent last. The zero value is ready; all methods may be called
// from any goroutine.
type lastSent struct {
	prefix prefix.Log
	mu     sync.Mutex   // guards last
	last   *sentRequest // of a conversation
}

// of returns the last request that was sent for s; nil if the last request was for another
// session, or there was none.
func (l *lastSent) of(s *session.Session) *sentRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil || l.last.session != s {
		return nil
	}
	return l.last
}

// noteRequest remembers is, which is about to be sent as r, and compares it with the
// request before, to find the hook because of which a provider cannot use its cache. tools
// are those of r, in the same order; by is the hook that chose them.
func (l *lastSent) noteRequest(is *sentRequest, r *llm.Request, tools []Tool, by string) {
	l.mu.Lock()
	l.last = is
	l.mu.Unlock()
	begin := &prefix.Request{Session: is.session, ToolsBy: by, Messages: r.Messages,
		System: prefix.Stages[string]{Base: is.system.base, Each: is.system.stages},
		Items:  prefix.Stages[[]session.Item]{Base: is.chain.core, Each: is.chain.stages}}
	for i, t := range tools {
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
