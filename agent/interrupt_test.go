package agent

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"pi/session"
)

// Whenever the interrupt comes: the run ends with ErrAborted, what is stored is
// in pairs, and the next prompt works.
func TestInterruptAtAnyMomentLeavesASessionThatGoesOn(t *testing.T) {
	calls := use(call{"a", "look", `{"n":1}`}, call{"b", "look", `{"n":2}`})
	prompt := "user: go"
	answer := `assistant a=look{"n":1} b=look{"n":2}`
	aborted := "assistant [aborted: interrupted]"
	for _, kind := range []struct {
		at     Kind
		before bool // anything is sent
		want   []string
	}{
		{KindInput, true, nil},
		{KindBeforeAgentStart, true, []string{prompt, aborted}},
		{KindAgentStart, true, []string{prompt, aborted}},
		{KindTurnStart, true, []string{prompt, aborted}},
		{KindContext, true, []string{prompt, aborted}},
		{KindMessageStart, false, []string{prompt, aborted}},
		{KindMessageUpdate, false, []string{prompt, aborted}},
		{KindMessageEnd, false, []string{prompt, answer, "toolResult a error: interrupted", "toolResult b error: interrupted"}},
		{KindToolExecutionStart, false, []string{prompt, answer, "toolResult a error: interrupted", "toolResult b error: interrupted"}},
		{KindToolCall, false, []string{prompt, answer, "toolResult a error: interrupted", "toolResult b error: interrupted"}},
		{KindToolResult, false, []string{prompt, answer, "toolResult a error: interrupted; what the tool had to say is not kept", "toolResult b error: interrupted; what the tool had to say is not kept"}},
		{KindToolExecutionEnd, false, []string{prompt, answer, "toolResult a: ok", "toolResult b: ok"}},
		{KindTurnEnd, false, []string{prompt, answer, "toolResult a: ok", "toolResult b: ok"}},
	} {
		t.Run(kind.at.String(), func(t *testing.T) {
			var r *harness
			once := true
			var both sync.WaitGroup // nobody is done before both run
			both.Add(2)
			look := tool("look", func(context.Context) (Result, error) {
				both.Done()
				both.Wait()
				return TextResult("ok"), nil
			})
			stopper := listener{kind.at: func(context.Context, Event) error {
				if once {
					once = false
					r.Abort()
				}
				return nil
			}}
			r = newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{stopper}}, calls, say("never"))
			if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
				t.Errorf("error %v", err)
			}
			r.wantTalk(kind.want...)
			if sent := len(r.model.requests); kind.before && sent != 0 {
				t.Errorf("%d requests were sent", sent)
			}
			r.wantGoesOn()
		})
	}
}

func TestInterruptInMidStreamKeepsThePartialText(t *testing.T) {
	started := make(chan struct{})
	r := newHarness(t, Options{Listeners: []Listener{listener{KindMessageEnd: func(ctx context.Context, _ Event) error { return ctx.Err() }},
		on(func(e *Notice) { t.Errorf("the end of the message was not heard: %s", e.Text) })}}, hang(started))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	if err := r.Prompt(ctx, Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
		t.Errorf("error %v", err)
	}
	r.wantTalk("user: go", "assistant: half an ans [aborted: interrupted]")
	r.wantGoesOn()
	for _, m := range r.model.requests[1].Messages {
		if strings.Contains(m.Text(), "half") {
			t.Error("the aborted answer is sent again")
		}
	}
}

func TestInterruptStopsTheToolsAndKeepsWhatTheySaid(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		var r *harness
		work := tool("work", func(ctx context.Context) (Result, error) {
			r.Abort()
			<-ctx.Done()
			return TextResult("one line, "), ctx.Err()
		})
		work.spec.Sequential = sequential
		r = newHarness(t, Options{Tools: []Tool{work}}, use(call{"a", "work", `{}`}, call{"b", "rm", `{}`}))
		if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, ErrAborted) {
			t.Errorf("error %v", err)
		}
		r.wantTalk("user: go", "assistant a=work{} b=rm{}", "toolResult a error: one line, interrupted", `toolResult b error: unknown tool "rm"; available tools: work`)
		r.wantGoesOn()
	}
}

func TestNobodyIsAskedAboutAResultAfterAnInterrupt(t *testing.T) {
	var r *harness
	work := tool("work", func(context.Context) (Result, error) { r.Abort(); return TextResult("a secret"), nil })
	r = newHarness(t, Options{Tools: []Tool{work}, Listeners: []Listener{on(func(*ToolResult) { t.Error("asked") })}}, use(call{"a", "work", `{}`}))
	_ = r.Prompt(t.Context(), Prompt{Text: "go"})
	r.wantTalk("user: go", "assistant a=work{}", "toolResult a error: interrupted; what the tool had to say is not kept")
}

func TestSequentialCallsAfterAnInterruptDoNotRun(t *testing.T) {
	var r *harness
	ran := 0
	work := tool("work", func(ctx context.Context) (Result, error) {
		ran++
		r.Abort()
		return TextResult("done"), nil
	})
	work.spec.Sequential = true
	r = newHarness(t, Options{Tools: []Tool{work}}, use(call{"a", "work", `{}`}, call{"b", "work", `{"n":1}`}))
	_ = r.Prompt(t.Context(), Prompt{Text: "go"})
	if ran != 1 {
		t.Errorf("%d ran", ran)
	}
	r.wantTalk("user: go", `assistant a=work{} b=work{"n":1}`, "toolResult a: done", "toolResult b error: interrupted")
}

func TestWhatWaitedAtAnInterruptCanBeTakenBack(t *testing.T) {
	var r *harness
	r = newHarness(t, Options{Listeners: []Listener{on(func(*MessageUpdate) {
		for _, m := range []string{"one", "two"} {
			_, _ = r.Enqueue(t.Context(), Prompt{Text: m}, Steer)
		}
		_, _ = r.Enqueue(t.Context(), Prompt{Text: "later"}, FollowUp)
		r.Abort()
	})}}, say("hm"))
	_ = r.Prompt(t.Context(), Prompt{Text: "go"})
	if got := r.Inbox().TakeQueued(); !reflect.DeepEqual(got, []string{"one", "two", "later"}) {
		t.Errorf("taken %q", got)
	}
	r.events.all = nil
	r.wantGoesOn()
}

func TestProviderIsNotCalledOnceInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := newHarness(t, Options{}, say("never"))
	if err := r.Prompt(ctx, Prompt{Text: "go"}); !errors.Is(err, ErrAborted) || len(r.model.requests) != 0 {
		t.Errorf("%v after %d requests", err, len(r.model.requests))
	}
}

func TestCloseInterruptsAndWaits(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	l := &log{}
	r := newHarness(t, Options{Listeners: []Listener{l}}, hang(started))
	go func() { ended <- r.Prompt(context.Background(), Prompt{Text: "go"}) }()
	<-started
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrAborted) {
		t.Errorf("prompt: %v", err)
	}
	if got := strings.Join(l.kinds[len(l.kinds)-2:], " "); got != "agent_settled session_shutdown" {
		t.Errorf("last events: %s", got)
	}
	if s, err := session.Read(r.Session().File()); err != nil || len(s.Branch()) == 0 {
		t.Errorf("the file: %v", err)
	}
}

func TestWaitIdleHonoursItsContext(t *testing.T) {
	var r *harness
	work := &fakeTool{echo("work").spec, func(context.Context, json.RawMessage, Update) (Result, error) {
		gone, cancel := context.WithCancel(context.Background())
		cancel()
		if err := r.WaitIdle(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("while it works: %v", err)
		}
		return Result{}, nil
	}}
	r = newHarness(t, Options{Tools: []Tool{work}}, use(call{"a", "work", ""}), say("done"))
	r.prompt("go")
	if err := r.WaitIdle(t.Context()); err != nil {
		t.Errorf("idle: %v", err)
	}
}
