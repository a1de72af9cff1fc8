package agent

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// wired is what a provider with a wire sent last.
type wired struct {
	mu   sync.Mutex
	body string
	head http.Header
}

// onTheWire answers as then does, after the callbacks of a real request.
func onTheWire(then reply) reply { return new(wired).reply(then) }

func (w *wired) reply(then reply) reply {
	return func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool) {
		if err := w.send(ctx, r); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		then(ctx, r, yield)
	}
}

func (w *wired) send(ctx context.Context, r *llm.Request) error {
	body := []byte(`{"model": "one", "n": 12345678901234567890}`)
	var err error
	if r.Body != nil {
		if body, err = r.Body(ctx, body); err != nil {
			return err
		}
	}
	head := http.Header{"Authorization": {"Bearer sk-1"}, "X-Title": {"pi"}, "X-Odd": {"with sk-1 in it"}, "User-Agent": {"pi"}, "Accept": {"a", "b"}}
	if r.Header != nil {
		if err = r.Header(ctx, head); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.body, w.head = string(body), head
	w.mu.Unlock()
	if r.Response != nil {
		r.Response(ctx, 200, http.Header{"Request-Id": {"7"}})
	}
	return nil
}

// keyed gives the harness's provider a key.
func (r *harness) keyed(key string) *harness {
	spec, _ := r.Models().Lookup("acme")
	spec.Key = func(context.Context) (string, error) { return key, nil }
	r.Models().Register(spec)
	return r
}

func TestListenersRewriteTheRequestBody(t *testing.T) {
	for _, c := range []struct {
		name, payload, sent, failure string
	}{
		{"left alone", "", `{"model": "one", "n": 12345678901234567890}`, ""},
		{"rewritten", `{"model":"two"}`, `{"model":"two"}`, ""},
		{"a list", `[1]`, "", "before_provider_request: the payload is no JSON object any more"},
		{"null", `null`, "", "before_provider_request: the payload is no JSON object any more"},
		{"nonsense", `{`, "", "before_provider_request: the payload is no JSON object any more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w wired
			rewrite := on(func(e *BeforeProviderRequest) {
				if e.Provider != "acme" || e.Model != "one" {
					t.Errorf("%+v", e)
				}
				if c.payload != "" {
					e.Payload = input(c.payload)
				}
			})
			sees := on(func(e *BeforeProviderRequest) {
				if c.payload != "" && string(e.Payload) != c.payload {
					t.Errorf("the next sees %s", e.Payload)
				}
			})
			r := newHarness(t, Options{Listeners: []Listener{rewrite, sees}}, w.reply(say("hi")))
			err := r.Prompt(t.Context(), Prompt{Text: "go"})
			if c.failure == "" && (err != nil || w.body != c.sent) {
				t.Errorf("sent %s, %v", w.body, err)
			}
			var provider *llm.ProviderError
			if c.failure != "" && (!errors.As(err, &provider) || !strings.Contains(err.Error(), c.failure) || w.head != nil) {
				t.Errorf("error %v, sent %v", err, w.head)
			}
		})
	}
}

func TestListenersChangeHeadersAndNeverSeeTheKey(t *testing.T) {
	var w wired
	value := func(s string) *string { return &s }
	change := on(func(e *BeforeProviderHeaders) {
		if e.Headers["Authorization"] != "…" || e.Headers["X-Odd"] != "…" || e.Headers["X-Title"] != "pi" || e.Headers["Accept"] != "a, b" {
			t.Errorf("shown %v", e.Headers)
		}
		e.Changed = map[string]*string{"authorization": value("…"), "x-title": value("mine"), "user-agent": nil, "x-new": value("1"), "x-odd": nil}
	})
	var response *AfterProviderResponse
	r := newHarness(t, Options{Listeners: []Listener{change, on(func(e *AfterProviderResponse) { response = e })}}, w.reply(say("hi"))).keyed("sk-1")
	r.prompt("go")
	if w.head.Get("Authorization") != "Bearer sk-1" || w.head.Get("X-Title") != "mine" || w.head.Get("X-New") != "1" || w.head.Get("X-Odd") != "" {
		t.Errorf("sent %v", w.head)
	}
	if values, there := w.head["User-Agent"]; !there || len(values) != 0 {
		t.Errorf("the client would put its own name: %v", values)
	}
	if response == nil || response.Status != 200 || response.Headers.Get("Request-Id") != "7" || response.Model != "one" {
		t.Errorf("%+v", response)
	}
}

func TestRequestsWithoutListenersAreNotLookedAt(t *testing.T) {
	r := newHarness(t, Options{}, say("hi"))
	r.prompt("go")
	if q := r.model.requests[0]; q.Body != nil || q.Header != nil || q.Response != nil {
		t.Errorf("%+v", q)
	}
}

func TestCompletionAnswersBesideTheConversationAndIsCounted(t *testing.T) {
	l := &log{}
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 3, Output: 4, TotalTokens: 7, Cost: message.Cost{Total: 0.5}}}
	var r *harness
	var end *AgentEnd
	look := tool("look", func(ctx context.Context) (Result, error) {
		m, err := r.Complete(ctx, Completion{System: "be brief", Messages: userItems("sum up"), MaxTokens: 9, By: "notes"})
		if err != nil || m.Text() != "short" || m.StopReason != message.StopEnd || m.Usage.Output != 4 {
			t.Errorf("%+v, %v", m, err)
		}
		return TextResult("ok"), nil
	})
	r = newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{l, on(func(e *AgentEnd) { end = e })}},
		use(call{"a", "look", `{}`}), onTheWire(deltas(text("short"), usage, stop(message.StopEnd))), say("done"))
	r.prompt("go")
	q := r.model.requests[1]
	if q.System != "be brief" || q.Thinking != "off" || q.MaxTokens != 9 || len(q.Tools) != 0 || len(q.Messages) != 1 {
		t.Errorf("asked %+v", q)
	}
	r.wantTalk("user: go", "assistant a=look{}", "toolResult a: ok", "assistant: done")
	if end.Usage.Input != 3 || r.Totals().Usage.Cost.Total != 0.5 || r.Totals().Input != 3 {
		t.Errorf("the run counted %+v, the session %+v", end.Usage, r.Totals())
	}
	if want := `"type":"usage"`; strings.Count(r.file(), want) != 1 || !strings.Contains(r.file(), `"kind":"hook","provider":"acme","model":"one"`) || !strings.Contains(r.file(), `"note":"notes"`) {
		t.Errorf("file\n%s", r.file())
	}
	if got := strings.Count(strings.Join(l.kinds, " "), "before_provider_request"); got != 1 {
		t.Errorf("%d requests were shown on the wire", got)
	}
}

func userItems(s string) []session.Item {
	return []session.Item{{Message: &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock(s)}}, Index: -1}}
}

func TestListenersToTheWireMayCompleteWithoutEnd(t *testing.T) {
	var r *harness
	asked := 0
	look := listener{KindBeforeProviderRequest: func(ctx context.Context, _ Event) error {
		asked++
		if m, err := r.Complete(ctx, Completion{Messages: userItems("may this go out?")}); err != nil || m.Text() != "yes" {
			t.Error(m, err)
		}
		return nil
	}}
	r = newHarness(t, Options{Listeners: []Listener{look}}, onTheWire(say("hi")), onTheWire(say("yes")))
	r.prompt("go")
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

func TestCompletionThatFailsIsTyped(t *testing.T) {
	usage := llm.Delta{Kind: llm.DeltaUsage, Usage: &message.Usage{Input: 3}}
	r := newHarness(t, Options{}, fail(errors.New("no route")), deltas(text("par"), usage), func(context.Context, *llm.Request, func(llm.Delta, error) bool) { panic("nil map") },
		deltas(llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: llm.StopRefusal, Message: "I will not"}}))
	for _, want := range []string{"acme: no route", "acme: the answer was cut off", "acme: the client crashed: nil map", "acme: I will not"} {
		m, err := r.Complete(t.Context(), Completion{Messages: userItems("go")})
		var provider *llm.ProviderError
		if m != nil || !errors.As(err, &provider) || err.Error() != want {
			t.Errorf("%v, %v; want %s", m, err, want)
		}
	}
	if r.Totals().Input != 3 {
		t.Error("what a failed answer used is not counted")
	}
	if _, err := r.Complete(t.Context(), Completion{}); err == nil {
		t.Error("nothing was asked, and it did not fail")
	}
	if _, err := r.Complete(t.Context(), Completion{Messages: userItems("go"), Thinking: "loud"}); err == nil {
		t.Error("loud is a level")
	}
}

func TestCompletionEndsWithItsContext(t *testing.T) {
	started := make(chan struct{})
	r := newHarness(t, Options{}, hang(started))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if _, err := r.Complete(ctx, Completion{Messages: userItems("go")}); !errors.Is(err, ErrAborted) {
		t.Error(err)
	}
}

func TestCompletionTakesAnotherKeyAndModel(t *testing.T) {
	r := newHarness(t, Options{}, say("hi")).keyed("mine")
	two := r.Models().Find("acme", "two")
	if m, err := r.Complete(t.Context(), Completion{Model: two, APIKey: "yours", Messages: userItems("go")}); err != nil || m.Model != "two" {
		t.Error(m, err)
	}
	if q := r.model.requests[0]; q.APIKey != "yours" || q.Model != two {
		t.Errorf("%+v", q)
	}
}

func TestWhatWasSentLastIsThatOfItsSession(t *testing.T) {
	one, other := unsaved(t, "go"), unsaved(t, "go")
	var l lastSent
	l.noteAnswer("early") // nothing was sent yet
	if l.requestOf(one) != nil {
		t.Error("there is a request before the first")
	}
	l.noteRequest(&sentRequest{session: one, asked: &llm.Request{}})
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
		l.noteRequest(&sentRequest{session: s, asked: r})
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
