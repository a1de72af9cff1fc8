package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheTimeOfACallStandsWhileAnyQuestionIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		began := time.Now()
		s := newCallScope(t.Context(), "a", func(_ context.Context, runs bool) {
			told = append(told, fmt.Sprint(time.Since(began), " ", runs))
		})
		ctx := s.mark(t.Context())
		AwaitUser(ctx)() // before it runs, which is told to nobody
		s.measure(ctx, func() {
			time.Sleep(time.Second)
			one := AwaitUser(ctx)
			time.Sleep(time.Second)
			two := AwaitUser(ctx)
			time.Sleep(time.Second)
			one()
			time.Sleep(time.Second)
			two()
			time.Sleep(time.Second)
		})
		AwaitUser(ctx)()
		if got, want := strings.Join(told, ", "), "0s true, 1s false, 4s true, 5s false"; got != want || s.took() != 2*time.Second {
			t.Errorf("told %s, took %v; want %s, 2s", got, s.took(), want)
		}
		AwaitUser(context.Background())() // which belongs to no call
	})
}

func TestACallInACallHasItsIDWithANumber(t *testing.T) {
	quiet := func(context.Context, bool) {}
	if id := newCallID(t.Context()); !strings.HasPrefix(id, "call_") || CallID(t.Context()) != "" {
		t.Errorf("outside of all calls one is %q", id)
	}
	ctx := newCallScope(t.Context(), "a", quiet).mark(t.Context())
	inner := newCallScope(ctx, newCallID(ctx), quiet).mark(ctx)
	if got := []string{CallID(inner), newCallID(inner), newCallID(ctx)}; strings.Join(got, " ") != "a/1 a/1/1 a/2" {
		t.Errorf("%q", got)
	}
}

// asks waits for a user who takes so long to answer.
func asks(ctx context.Context, answer time.Duration) {
	defer AwaitUser(ctx)()
	time.Sleep(answer)
}

// The time of a tool is that in which it runs: not that of its gate, nor of a call in the
// same answer, nor of a question that it asks itself, or a call that it makes.
func TestTimeThatWaitsForTheUserIsNoToolsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		began := time.Now()
		tell := func(format string, args ...any) {
			told = append(told, fmt.Sprintf("%v ", time.Since(began))+fmt.Sprintf(format, args...))
		}
		listen := []Listener{
			on(func(e *ToolExecutionEnd) { tell("%s took %v", e.ID, e.Took) }),
			on(func(e *ToolClock) { tell("%s runs: %v", e.ID, e.Runs) }),
			gateFor("asking", time.Minute), gateFor("refused", time.Hour),
		}
		var r *harness
		asking := tool("asking", func(ctx context.Context) (Result, error) {
			time.Sleep(2 * time.Second)
			asks(ctx, time.Minute)
			r.CallTool(ctx, "inner", json.RawMessage(`{}`))
			return TextResult("ok"), nil
		})
		inner := tool("inner", func(ctx context.Context) (Result, error) {
			time.Sleep(time.Second)
			asks(ctx, time.Minute)
			return TextResult("ok"), nil
		})
		refused := tool("refused", func(context.Context) (Result, error) { return TextResult("ok"), nil })
		r = newHarness(t, Options{Tools: []Tool{asking, inner, refused}, Listeners: listen},
			use(call{"a", "asking", `{}`}, call{"r", "refused", `{}`}), say("hi"))
		r.prompt("go")
		want := []string{
			"1h1m0s a runs: true", "1h1m2s a runs: false", "1h2m2s a runs: true",
			"1h2m2s a/1 runs: true", "1h2m3s a/1 runs: false", "1h2m3s a runs: false", "1h3m3s a/1 runs: true", "1h3m3s a runs: true",
			"1h3m3s a/1 runs: false", "1h3m3s a/1 took 1s",
			"1h3m3s a runs: false", "1h3m3s a took 3s", "1h3m3s r took 0s",
		}
		if !slices.Equal(told, want) {
			t.Errorf("told\n%q\nwant\n%q", told, want)
		}
	})
}

// gateFor is a listener that asks the user about a tool, and blocks one that is refused.
func gateFor(tool string, answer time.Duration) Listener {
	return listener{KindToolCall: func(ctx context.Context, e Event) error {
		if c := e.(*ToolCall); c.Name == tool {
			asks(ctx, answer)
			c.Block = tool == "refused"
		}
		return nil
	}}
}

func TestACallThatAnInterruptEndedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := map[string]bool{}
	failed := tool("failed", func(context.Context) (Result, error) { return Result{IsError: true}, nil })
	good := tool("good", func(context.Context) (Result, error) { return TextResult("ok"), nil })
	waits := tool("waits", func(ctx context.Context) (Result, error) {
		cancel()
		<-ctx.Done()
		return Result{}, ctx.Err()
	})
	for _, x := range []*fakeTool{failed, good, waits} {
		x.spec.Sequential = true
	}
	r := newHarness(t, Options{Tools: []Tool{failed, good, waits},
		Listeners: []Listener{on(func(e *ToolExecutionEnd) { ended[e.ID] = e.Result.Interrupted })}},
		use(call{"f", "failed", `{}`}, call{"g", "good", `{}`}, call{"w", "waits", `{}`}, call{"n", "good", `{}`}))
	_ = r.Prompt(ctx, Prompt{Text: "go"})
	for id, want := range map[string]bool{"f": false, "g": false, "w": true, "n": true} {
		if got, ok := ended[id]; !ok || got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}
