package agent

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// streamer is a Provider made of one reply.
type streamer reply

func (s streamer) Stream(ctx context.Context, r *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) { s(ctx, r, yield) }
}

// calling answers with one call per request, and with text once there were n.
func calling(n int) streamer {
	calls := 0
	return func(ctx context.Context, q *llm.Request, yield func(llm.Delta, error) bool) {
		if calls++; calls > n {
			say("done")(ctx, q, yield)
			return
		}
		use(call{fmt.Sprint("c", calls), "look", fmt.Sprintf(`{"n":%d}`, calls)})(ctx, q, yield)
	}
}

// BenchmarkToolTurn is one turn with one call: request, answer, gate, run and
// both appends to a file, on top of a conversation that is already there.
func BenchmarkToolTurn(b *testing.B) {
	for _, messages := range []int{0, 1_000, 10_000} {
		b.Run(fmt.Sprint("after ", messages), func(b *testing.B) {
			b.ReportAllocs()
			for left := b.N; left > 0; left -= 100 {
				b.StopTimer()
				a := benchAgent(b, calling(min(left, 100)), messages)
				b.StartTimer()
				if err := a.Prompt(b.Context(), Prompt{Text: "go"}); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := a.Session().Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchModels(p llm.Provider) *llm.Models {
	models := llm.NewModels(map[string]llm.Provider{"test": p})
	models.Register(llm.ProviderSpec{Name: "acme"})
	return models
}

func benchAgent(b testing.TB, p llm.Provider, messages int) *Agent {
	s := session.New(session.Options{Dir: b.TempDir(), Cwd: "/p"})
	for i := range messages {
		m := &message.Message{Role: message.RoleUser, Content: []message.Block{message.TextBlock("some words of a conversation")}}
		if i%2 == 1 {
			m.Role, m.Usage = message.RoleAssistant, &message.Usage{}
		}
		if _, err := s.AppendMessage(m); err != nil {
			b.Fatal(err)
		}
	}
	return New(Options{Session: s, Models: benchModels(p), Model: &llm.Model{Provider: "acme", ID: "one", API: "test"},
		Thinking: "off", Tools: []Tool{echo("look")}, Listeners: []Listener{on(func(*AgentEnd) {}), on(func(*TurnEnd) {})}, Settings: Settings{MaxRepeats: 3}, Cwd: "/p"})
}

// BenchmarkDeltas is an answer of 20,000 deltas with one listener for them.
func BenchmarkDeltas(b *testing.B) {
	piece := text("word ")
	long := func(_ context.Context, _ *llm.Request, yield func(llm.Delta, error) bool) {
		for range 20_000 {
			if !yield(piece, nil) {
				return
			}
		}
		yield(stop(message.StopEnd), nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		seen := 0
		a := New(Options{Session: session.New(session.Options{}), Models: benchModels(streamer(long)),
			Model: &llm.Model{Provider: "acme", ID: "one", API: "test"}, Thinking: "off", Listeners: []Listener{on(func(*MessageUpdate) { seen++ })}})
		if err := a.Prompt(b.Context(), Prompt{Text: "go"}); err != nil || seen != 20_001 { // and the end of it
			b.Fatal(err, seen)
		}
	}
}

// BenchmarkEditContext is one edit in a conversation of 10,000 messages that has
// been seen.
func BenchmarkEditContext(b *testing.B) {
	a := benchAgent(b, calling(0), 10_000)
	ids := a.Context(b.Context())
	b.ResetTimer()
	for n := range b.N {
		if _, err := a.EditContext(b.Context(), ids[n%len(ids)].Entry.ID, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := a.Session().Close(); err != nil {
		b.Fatal(err)
	}
}

// A line costs nothing where nobody listens to it.
func BenchmarkALineThatNobodyHears(b *testing.B) {
	a := benchAgent(b, streamer(say("never")), 0)
	b.ReportAllocs()
	for b.Loop() {
		if a.AskLine(b.Context(), Prompt{Text: "hello", Source: "interactive"}, "") != nil {
			b.Fatal("somebody listens")
		}
	}
}

func TestALineThatNobodyHearsAllocatesNothing(t *testing.T) {
	a := benchAgent(t, streamer(say("never")), 0)
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { a.AskLine(ctx, Prompt{Text: "hello", Source: "interactive"}, "") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
