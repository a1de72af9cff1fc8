package agent

import (
	"context"
	"fmt"
	"testing"

	"pi/session"
)

// endless answers every request with one call, and with text once there were n.
func endless(n int) reply {
	calls := 0
	return func(ctx context.Context, q *Request, yield func(Delta, error) bool) {
		if calls++; calls > n {
			say("done")(ctx, q, yield)
			return
		}
		use(call{fmt.Sprint("c", calls), "look", fmt.Sprintf(`{"n":%d}`, calls)})(ctx, q, yield)
	}
}

// BenchmarkToolTurn is one turn with one call: request, answer, gate, run and
// both appends to a file, in a session that grows with b.N.
func BenchmarkToolTurn(b *testing.B) {
	dir := b.TempDir()
	s := session.New(session.Options{Dir: dir, Cwd: "/p"})
	defer s.Close()
	model := &Model{Provider: "acme", ID: "one", API: "test"}
	answer := endless(b.N)
	provider := &scripted{}
	for range b.N + 1 {
		provider.replies = append(provider.replies, answer)
	}
	a := New(Options{Session: s, Models: NewModels(map[string]Provider{"test": provider}), Model: model, Thinking: "off",
		Tools: []Tool{echo("look")}, Listeners: []Listener{on(func(*AgentEnd) {})}, Settings: Settings{MaxRepeats: 3}, Cwd: "/p"})
	b.ReportAllocs()
	b.ResetTimer()
	if err := a.Prompt(b.Context(), Prompt{Text: "go"}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkDeltas is an answer of 20,000 deltas with one listener for them.
func BenchmarkDeltas(b *testing.B) {
	piece := text("word ")
	long := func(_ context.Context, _ *Request, yield func(Delta, error) bool) {
		for range 20_000 {
			if !yield(piece, nil) {
				return
			}
		}
		yield(stop(session.StopEnd), nil)
	}
	b.ReportAllocs()
	for b.Loop() {
		seen := 0
		a := New(Options{Session: session.New(session.Options{}), Models: NewModels(map[string]Provider{"test": &scripted{replies: []reply{long}}}),
			Model: &Model{Provider: "acme", ID: "one", API: "test"}, Thinking: "off", Listeners: []Listener{on(func(*MessageUpdate) { seen++ })}})
		if err := a.Prompt(b.Context(), Prompt{Text: "go"}); err != nil || seen != 20_000 {
			b.Fatal(err, seen)
		}
	}
}
