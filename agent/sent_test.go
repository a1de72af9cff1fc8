package agent

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"pi/agent/llm"
	"pi/session"
)

func TestWhatWasSentLastIsThatOfItsSession(t *testing.T) {
	one, other := unsaved(t, "go"), unsaved(t, "go")
	var l lastSent
	l.noteAnswer("early") // nothing was sent yet
	if l.requestOf(one) != nil {
		t.Error("there is a request before the first")
	}
	l.noteRequest(&sentRequest{session: one}, &llm.Request{}, nil, "")
	before := l.requestOf(one)
	l.noteAnswer("a1")
	if is := l.requestOf(one); is == nil || is.answer != "a1" || before.answer != "" {
		t.Errorf("%+v, before %+v", is, before)
	}
	if l.requestOf(other) != nil {
		t.Error("another session has it too")
	}
}

func TestAHookThatChangesTheBodyBreaksThePrefixOnceItWasSent(t *testing.T) {
	s := unsaved(t, "go")
	var l lastSent
	r := &llm.Request{Model: &llm.Model{ID: "one"}, Messages: session.ForModel(s.Context())}
	send := func(body string) {
		l.noteRequest(&sentRequest{session: s}, r, nil, "")
		l.noteBody(r, json.RawMessage(`{"system":"be brief"}`), []PayloadStage{{By: "pop", Value: json.RawMessage(body)}})
	}
	send(`{"system":"be brief 1"}`)
	if b := l.prefix.BreakOf(s); b != nil {
		t.Errorf("the first request: %s", b)
	}
	send(`{"system":"be brief 2"}`)
	if b := l.prefix.BreakOf(s); b == nil || b.Hook != "pop" {
		t.Errorf("the second request: %v", b)
	}
}

func TestAWiretapSetsOnlyTheCallbacksThatSomebodyWants(t *testing.T) {
	body := on(func(e *BeforeProviderRequest) { e.Payload = json.RawMessage(`{"n":2}`) })
	head := on(func(e *BeforeProviderHeaders) {
		if e.Headers["X-Api-Key"] != hiddenValue {
			t.Errorf("shown %v", e.Headers)
		}
		e.Changed = map[string]*string{"X-Api-Key": nil}
	})
	model := &llm.Model{Provider: "acme", ID: "one"}
	watched := func(ctx context.Context, all ...Listener) *llm.Request {
		r := &llm.Request{Model: model, APIKey: "sk-1"}
		(&asker{events: listening(all...), sent: &lastSent{}}).watch(ctx, r)
		return r
	}
	if r := watched(t.Context()); r.Body != nil || r.Header != nil || r.Response != nil {
		t.Error("somebody wants it")
	}
	if r := watched(onWire(t.Context()), body, head); r.Body != nil || r.Header != nil {
		t.Error("what a listener sends on the way is shown to it")
	}
	r := watched(t.Context(), body, head)
	if b, err := r.Body(t.Context(), []byte(`{"n":1}`)); err != nil || string(b) != `{"n":2}` {
		t.Errorf("%s, %v", b, err)
	}
	h := http.Header{"X-Api-Key": {"sk-1"}}
	if err := r.Header(t.Context(), h); err != nil || len(h) != 0 || r.Response != nil {
		t.Errorf("%v, %v", h, err)
	}
	r = watched(t.Context(), on(func(e *BeforeProviderRequest) { e.Payload = json.RawMessage(`null`) }))
	if _, err := r.Body(t.Context(), []byte(`{"n":1}`)); err == nil {
		t.Error("null is a body")
	}
}
