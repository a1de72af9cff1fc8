package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is one scripted answer of a model; yield is false once nobody listens.
type reply func(ctx context.Context, r *llm.Request, yield func(llm.Delta, error) bool)

// scripted is a Provider that gives its replies one after the other and keeps
// what it was asked.
type scripted struct {
	mu       sync.Mutex
	replies  []reply
	requests []*llm.Request
}

func (s *scripted) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		s.mu.Lock()
		n := len(s.requests)
		s.requests = append(s.requests, r)
		s.mu.Unlock()
		if n >= len(s.replies) {
			yield(llm.Delta{}, fmt.Errorf("request %d was not expected", n+1))
			return
		}
		s.replies[n](ctx, r, yield)
	}
}

func deltas(ds ...llm.Delta) reply {
	return func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for _, d := range ds {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func text(s string) llm.Delta { return llm.Delta{Kind: llm.DeltaText, Text: s} }

func stop(r message.StopReason) llm.Delta {
	return llm.Delta{Kind: llm.DeltaStop, Stop: llm.Stop{Reason: r}}
}

func say(s string) reply { return deltas(text(s), stop(message.StopEnd)) }

type call struct{ id, name, args string }

func callDeltas(calls ...call) (ds []llm.Delta) {
	for i, c := range calls {
		ds = append(ds, llm.Delta{Kind: llm.DeltaToolCall, Index: i + 1, ID: c.id, Name: c.name}, llm.Delta{Kind: llm.DeltaToolCall, Index: i + 1, Text: c.args})
	}
	return ds
}

func use(calls ...call) reply {
	return deltas(append(callDeltas(calls...), stop(message.StopToolUse))...)
}

func fail(err error) reply {
	return func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) { yield(llm.Delta{}, err) }
}

// hang streams a piece of text, tells that it has, and says nothing more until
// it is interrupted.
func hang(started chan<- struct{}) reply {
	return func(ctx context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		if yield(text("half an ans"), nil) {
			close(started)
			<-ctx.Done()
			yield(llm.Delta{}, ctx.Err())
		}
	}
}

// fakeTool is a Tool made of a function.
type fakeTool struct {
	spec llm.ToolSpec
	run  func(ctx context.Context, input json.RawMessage, update Update) (Result, error)
}

func (f *fakeTool) Spec() llm.ToolSpec { return f.spec }
func (f *fakeTool) Run(ctx context.Context, input json.RawMessage, update Update) (Result, error) {
	return f.run(ctx, input, update)
}

// echo answers with its arguments.
func echo(name string) *fakeTool {
	return &fakeTool{
		spec: llm.ToolSpec{Name: name, Description: name + " things", Parameters: json.RawMessage(
			`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)},
		run: func(_ context.Context, input json.RawMessage, _ Update) (Result, error) {
			return TextResult(name + string(input)), nil
		},
	}
}

func tool(name string, run func(ctx context.Context) (Result, error)) *fakeTool {
	t := echo(name)
	t.run = func(ctx context.Context, _ json.RawMessage, _ Update) (Result, error) { return run(ctx) }
	return t
}

// listener is a Listener made of functions, one per kind.
type listener map[Kind]func(context.Context, Event) error

func (l listener) Wants(k Kind) bool                         { return l[k] != nil }
func (l listener) Handle(ctx context.Context, e Event) error { return l[e.Kind()](ctx, e) }

// on makes a listener for one type of event.
func on[E Event](f func(E)) listener {
	return try(func(e E) error { f(e); return nil })
}

func try[E Event](f func(E) error) listener {
	var zero E
	return listener{zero.Kind(): func(_ context.Context, e Event) error { return f(e.(E)) }}
}

func listening(all ...Listener) *listeners { return &listeners{all} }

// log writes down the kinds of all events that hooks get, too; see stream for the rest.
type log struct {
	mu    sync.Mutex
	kinds []string
	notes []string
}

func (*log) Wants(k Kind) bool {
	return k != KindEntryAppended && k != KindQueueChanged && k != KindOtherMessageStart && k != KindOtherMessageEnd
}
func (l *log) Handle(_ context.Context, e Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e := e.(type) {
	case *Notice:
		l.notes = append(l.notes, e.Text)
	default:
		l.kinds = append(l.kinds, e.Kind().String())
	}
	return nil
}

// harness is an agent with a scripted model, on a session in a file.
type harness struct {
	*Agent
	t     *testing.T
	model *scripted
}

func newHarness(t *testing.T, o Options, replies ...reply) *harness {
	t.Helper()
	model := &scripted{replies: replies}
	o = withModels(o, model)
	r := &harness{New(withSessions(t, o)), t, model}
	t.Cleanup(func() { _ = r.Session().Close() })
	return r
}

// withModels are options with two models, which a provider answers for.
func withModels(o Options, model llm.Provider) Options {
	o.Models = llm.NewModels(map[string]llm.Provider{"test": model})
	o.Model = &llm.Model{Provider: "acme", ID: "one", API: "test", Reasoning: true}
	other := &llm.Model{Provider: "acme", ID: "two", API: "test", Reasoning: true}
	o.Models.Register(llm.ProviderSpec{Name: "acme", Models: llm.Listed(o.Model, other)})
	return o
}

// testTime is the time in which tests happen that want no other.
func testTime() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }

// withSessions are options with sessions in files.
func withSessions(t *testing.T, o Options) Options {
	if o.Now == nil {
		o.Now = testTime
	}
	dir := t.TempDir()
	fresh := func(string) (*session.Session, error) {
		return session.New(session.Options{Dir: dir, Cwd: "/p", Now: o.Now}), nil
	}
	if o.Session == nil {
		o.Session, _ = fresh("")
	}
	o.NewSession, o.Thinking, o.Cwd = fresh, "off", "/p"
	o.OpenSession = func(path string) (*session.Session, error) {
		return session.Open(path, session.Options{Dir: dir, Now: o.Now})
	}
	o.CopySession = func(s *session.Session, leaf string) (*session.Session, error) {
		return s.CopyPath(leaf, session.Options{Dir: dir, Cwd: "/p", Now: o.Now})
	}
	return o
}

// prompt runs a prompt that must end well.
func (r *harness) prompt(text string) {
	r.t.Helper()
	if err := r.Prompt(r.t.Context(), Prompt{Text: text}); err != nil {
		r.t.Fatalf("prompt %q: %v", text, err)
	}
}

// talk is the conversation as short lines: role, text, calls, what went wrong.
func (r *harness) talk() string {
	var lines []string
	for _, it := range r.Session().Context() {
		lines = append(lines, line(it.Message))
	}
	return strings.Join(lines, "\n")
}

func line(m *message.Message) string {
	s := string(m.Role)
	if m.Role == message.RoleToolResult {
		s += " " + m.ToolCallID
		if m.IsError {
			s += " error"
		}
	}
	if text := m.Text(); text != "" {
		s += ": " + text
	}
	for _, c := range m.ToolCalls() {
		s += " " + c.ID + "=" + c.Name + string(c.Arguments)
	}
	if m.StopReason == message.StopAborted || m.StopReason == message.StopError {
		s += " [" + string(m.StopReason) + ": " + m.ErrorMessage + "]"
	}
	return s
}

func (r *harness) wantTalk(want ...string) {
	r.t.Helper()
	if got := r.talk(); got != strings.Join(want, "\n") {
		r.t.Errorf("the session holds\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// wantGoesOn checks that what would be sent next has one result per call, and
// that a run goes on from here.
func (r *harness) wantGoesOn() {
	r.t.Helper()
	r.model.mu.Lock()
	r.model.replies = append(r.model.replies[:len(r.model.requests):len(r.model.requests)], say("here I am"))
	r.model.mu.Unlock()
	r.prompt("are you there?")
	open := map[string]bool{}
	sent := r.model.requests[len(r.model.requests)-1].Messages
	for _, m := range sent {
		for _, c := range m.ToolCalls() {
			open[c.ID] = true
		}
		if m.Role == message.RoleToolResult && !open[m.ToolCallID] {
			r.t.Errorf("result %s is sent without its call", m.ToolCallID)
		}
		if m.Role == message.RoleToolResult {
			delete(open, m.ToolCallID)
		}
	}
	if len(open) > 0 {
		r.t.Errorf("calls without result are sent: %v", open)
	}
	if !strings.HasSuffix(r.talk(), "user: are you there?\nassistant: here I am") {
		r.t.Errorf("the run after it: %s", r.talk())
	}
}

// file reads the session file as it is now.
func (r *harness) file() string {
	b, err := os.ReadFile(r.Session().File())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Error(err)
	}
	return string(b)
}

// userMessage is a message of a user.
func userMessage(content []message.Block) *message.Message {
	return &message.Message{Role: message.RoleUser, Content: content}
}
