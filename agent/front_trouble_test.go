package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pi/session/message"
)

// What front ends are told where a run does not go straight on.
func TestFrontEndsAreToldOfTrouble(t *testing.T) {
	look := use(call{"k", "look", `{}`})
	abort := func(r *harness) { r.Abort() }
	const failure = "acme: HTTP 529 overloaded_error: Overloaded"
	const opens = "accepted started; agent_start; turn_start; u go; "
	cut := cutBy(overloaded(), append(callDeltas(call{"x", "look", `{}`}), text("half"))...)
	length := deltas(append(callDeltas(call{"k", "look", `{"n":`}), stop(message.StopLength))...)
	for _, c := range []struct {
		name    string
		at      func(func()) Listener // when meanwhile is called, once
		then    func(*harness)
		replies []reply
		want    string
	}{
		{"a retry", nil, nil, []reply{fail(overloaded()), say("hi")},
			opens + "retry of assistant [error: " + failure + "]; waited; a hi; retried true; turn_end[0]; agent_end; settled"},
		{"a retry of a cut answer", nil, nil, []reply{cut, say("hi")},
			opens + "retry of assistant: half [error: " + failure + "]; waited; a hi; retried true; turn_end[0]; agent_end; settled"},
		{"no retry is left", nil, nil, []reply{fail(overloaded()), fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited; a assistant [error: " + failure + " (tried 2 times)]; retried false " + failure + " (tried 2 times); " +
				"turn_end[0]; agent_end; settled"},
		{"a wait that is ended alone", when[*AutoRetryStart], func(r *harness) { r.Interrupt().Retry() }, []reply{fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited(cancelled); a assistant [aborted: Retry cancelled]; retried false Retry cancelled; turn_end[0]; agent_end; settled(aborted)"},
		{"a wait that is ended with the run", when[*AutoRetryStart], abort, []reply{fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited(cancelled); a assistant [aborted: interrupted]; retried false interrupted; turn_end[0]; agent_end; settled(aborted)"},
		{"retries that are turned off in the wait", when[*AutoRetryStart], func(r *harness) {
			s := r.Settings()
			s.Retry.MaxAttempts = 0
			r.SetSettings(s)
		}, []reply{fail(overloaded()), fail(overloaded())},
			opens + "retry of assistant [error: " + failure + "]; waited; a assistant [error: " + failure + "]; retried false " + failure + "; turn_end[0]; agent_end; settled"},
		{"an abort in a stream", when[*MessageStart], abort, []reply{stall("half")},
			opens + "a half [aborted: interrupted]; turn_end[0]; agent_end; settled(aborted)"},
		{"an abort before the first byte", when[*TurnStart], abort, nil,
			opens + "a assistant [aborted: interrupted]; turn_end[0]; agent_end; settled(aborted)"},
		{"an abort in tools", when[*ToolExecutionUpdate], abort, []reply{look},
			opens + "a assistant k=look{}; start k; end k; t k; turn_end[1]; agent_end; settled(aborted)"},
		{"the limit of an answer with calls", nil, nil, []reply{length, say("hi")},
			opens + "a assistant k=look{}; start k; end k; t k; turn_end[1]; turn_start; a hi; turn_end[0]; agent_end; settled"},
		{"steering that is switched to all at once", when[*TurnStart], func(r *harness) {
			r.queue("one", Steer)
			r.queue("two", Steer)
			s := r.Settings()
			s.SteerAll = true
			r.SetSettings(s)
		}, []reply{say("hi"), say("ho")},
			"accepted started; agent_start; turn_start; queue [one] []; queue [one two] []; u go; a hi; turn_end[0]; turn_start; queue [two] []; u one; queue [] []; u two; a ho; turn_end[0]; agent_end; settled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &tape{}
				var r *harness
				o := Options{Settings: Settings{Retry: RetrySettings{MaxAttempts: 1, BaseDelay: time.Second}}, Listeners: []Listener{l}}
				o.Tools = []Tool{&fakeTool{spec: echo("look").spec, run: func(ctx context.Context, _ json.RawMessage, update Update) (Result, error) {
					if update == nil {
						return TextResult("seen"), nil
					}
					update(TextResult("begun"))
					<-ctx.Done()
					return Result{}, ctx.Err()
				}}}
				if c.at != nil {
					done := false
					o.Listeners = append(o.Listeners, c.at(func() {
						if !done {
							done = true
							c.then(r)
						}
					}))
				}
				r = newHarness(t, o, c.replies...)
				_ = r.Prompt(t.Context(), l.accepting("go"))
				l.want(t, strings.Split(c.want, "; ")...)
			})
		})
	}
}

// when is a listener that calls f with each event of one kind.
func when[E Event](f func()) Listener { return on(func(E) { f() }) }

func TestFrontEndsAreToldWhatDidNotFit(t *testing.T) {
	l := &tape{}
	r := full(t, Options{Listeners: []Listener{l}}, say("one"), overflow(), say("the summary"), say("two"), overflow(), say("the summary"), overflow())
	r.prompt("first")
	l.lines = nil
	r.prompt("second")
	l.mu.Lock()
	at := slices.Index(l.lines, "compaction_start overflow")
	if at < 2 || at+3 > len(l.lines) || l.lines[at-1] != "e context_edit" || !strings.HasPrefix(l.lines[at-2], "a assistant [error:") || l.lines[at+1] != "of "+strings.TrimPrefix(l.lines[at-2], "a ") {
		t.Errorf("told %q", l.lines)
	}
	l.mu.Unlock()
}

// What a program queues while the context is compacted behind a run is worked on before
// the agent settles.
func TestWhatIsQueuedBehindARunIsWorkedOn(t *testing.T) {
	l := &tape{}
	var r *harness
	once := true
	r = full(t, Options{Listeners: []Listener{l, started(func(*CompactionStart) {
		if once {
			once = false
			r.queue("two", Steer)
			if accepted, err := r.Enqueue(t.Context(), Prompt{Text: "three", Source: "rpc", InPreflight: true}, FollowUp); !accepted || err != nil {
				t.Error(accepted, err)
			}
		}
	})}}, say("one"), using(95000, text("two")), say("the summary"), say("three"), say("four"))
	r.prompt("first")
	l.lines = nil
	r.prompt("second")
	l.want(t, "agent_start", "turn_start", "u second", "a two", "turn_end[0]", "agent_end",
		"compaction_start threshold", "queue [two] []", "queue [two] [three]", "e compaction", "compaction_end true",
		"agent_start", "turn_start", "queue [] [three]", "u two", "a three", "turn_end[0]", "turn_start", "queue [] []", "u three", "a four", "turn_end[0]", "agent_end", "settled")
	if _, err := r.Enqueue(t.Context(), Prompt{Text: "late", InPreflight: true}, Steer); !errors.Is(err, ErrNoRun) {
		t.Error(err)
	}
}

// A triggering message of a hook begins a run as a prompt does.
func TestAMessageOfAHookBeginsARun(t *testing.T) {
	l := &tape{}
	r := newHarness(t, Options{Listeners: []Listener{l}}, say("hi"))
	if err := r.SendCustom(t.Context(), ofHook("wake up"), DeliverSteer, true); err != nil {
		t.Fatal(err)
	}
	for p := range r.Inbox().TakeSubmitted() {
		if err := r.Prompt(t.Context(), p); err != nil {
			t.Error(err)
		}
	}
	l.want(t, "agent_start", "turn_start", "c wake up", "a hi", "turn_end[0]", "agent_end", "settled")
}

// The tape of a call that a tool makes: its id is that of the other one with a number, the
// progress has the arguments as they were sent, and the ends say how long it took.
func TestCallsInCallsSayWhoseTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		listen := []Listener{
			on(func(e *ToolCall) {
				if e.Name == "inner" {
					e.Input = json.RawMessage(`{"n":2}`)
				}
			}),
			on(func(e *ToolExecutionStart) { told = append(told, "start "+e.ID) }),
			on(func(e *ToolExecutionUpdate) { told = append(told, "update "+e.ID+" "+string(e.Input)) }),
			on(func(e *ToolExecutionEnd) { told = append(told, "end "+e.ID+" "+e.Took.String()) }),
		}
		var r *harness
		inner := echo("inner")
		inner.run = func(_ context.Context, input json.RawMessage, update Update) (Result, error) {
			update(TextResult("half"))
			time.Sleep(time.Second)
			return TextResult(string(input)), nil
		}
		outer := tool("outer", func(ctx context.Context) (Result, error) {
			r.CallTool(ctx, "inner", json.RawMessage(`{"n":1}`))
			return r.CallTool(ctx, "inner", json.RawMessage(`{"n":1}`)), nil
		})
		quick := tool("quick", func(context.Context) (Result, error) { return TextResult("ok"), nil })
		r = newHarness(t, Options{Now: time.Now, Tools: []Tool{outer, inner, quick}, Listeners: listen}, use(call{"k", "outer", `{}`}, call{"q", "quick", `{}`}), say("hi"))
		r.prompt("go")
		want := []string{"start k", "start q", "start k/1", "update k/1 {\"n\":1}", "end k/1 1s", "start k/2", "update k/2 {\"n\":1}", "end k/2 1s", "end k 2s", "end q 0s"}
		if !slices.Equal(told, want) {
			t.Errorf("told %q\nwant %q", told, want)
		}
	})
}

// Answers record how much the model was to think, also where a hook replaces them.
func TestAnswersRecordTheirThinkingLevel(t *testing.T) {
	swap := false
	r := newHarness(t, Options{Listeners: []Listener{on(func(e *MessageEnd) {
		if swap {
			e.Message = &message.Message{Role: message.RoleAssistant, Content: []message.Block{message.TextBlock("mine")}}
		}
	})}}, say("one"), fail(errors.New("no")), say("two"))
	if err := r.SetThinking(t.Context(), "high"); err != nil {
		t.Fatal(err)
	}
	r.prompt("first")
	_ = r.Prompt(t.Context(), Prompt{Text: "second"})
	if err := r.SetThinking(t.Context(), "off"); err != nil {
		t.Fatal(err)
	}
	swap = true
	r.prompt("third")
	var levels []string
	for _, it := range r.Session().Context() {
		if it.Message.Role == message.RoleAssistant {
			levels = append(levels, it.Message.ThinkingLevel)
		}
	}
	if !slices.Equal(levels, []string{"high", "high", "off"}) || strings.Count(r.file(), `"thinkingLevel":"high","timestamp"`) != 2 {
		t.Errorf("levels %q in\n%s", levels, r.file())
	}
}
