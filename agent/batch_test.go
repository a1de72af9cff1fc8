package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"pi/session"
	"pi/session/message"
)

func TestResultsStandInTheOrderOfTheCallsWhateverBecameOfThem(t *testing.T) {
	second := make(chan struct{})
	slow := tool("slow", func(context.Context) (Result, error) { <-second; return TextResult("late"), nil })
	quick := tool("quick", func(context.Context) (Result, error) { close(second); return TextResult("early"), nil })
	l := &log{}
	var results, ends []string
	r := newHarness(t, Options{
		Tools: []Tool{slow, quick, echo("echo"),
			tool("fails", func(context.Context) (Result, error) { return TextResult("partly "), errors.New("disk full") }),
			tool("crashes", func(context.Context) (Result, error) { panic("boom") }),
			tool("garbled", func(context.Context) (Result, error) { return Result{Details: json.RawMessage("{")}, nil }),
			tool("silent", func(context.Context) (Result, error) { return Result{}, nil })},
		Listeners: []Listener{l,
			on(func(e *ToolCall) { e.Block, e.Reason = e.ID == "blocked", "not today" }),
			on(func(e *ToolResult) { results = append(results, e.ID) }),
			on(func(e *ToolExecutionEnd) { ends = append(ends, fmt.Sprint(e.ID, " ", e.Result.IsError)) })},
	}, use(
		call{"slow", "slow", `{}`}, call{"quick", "quick", `{}`}, call{"blocked", "echo", `{}`}, call{"unknown", "rm", `{}`},
		call{"invalid", "echo", `{"n":"x"}`}, call{"broken", "echo", `{"n":`}, call{"fails", "fails", `{}`},
		call{"crashes", "crashes", `{}`}, call{"garbled", "garbled", `{}`}, call{"silent", "silent", ``}), say("done"))
	r.prompt("go")
	talk := strings.Split(r.talk(), "\n")
	want := []string{
		"toolResult slow: late", "toolResult quick: early", "toolResult blocked error: not today",
		`toolResult unknown error: unknown tool "rm"; available tools: slow, quick, echo, fails, crashes, garbled, silent`,
		"toolResult invalid error: invalid arguments: /n: expected integer, got string",
		`toolResult broken error: not run: the arguments are not a JSON object: {"n":`,
		"toolResult fails error: partly disk full", "toolResult crashes error: tool crashes crashed: boom",
		"toolResult garbled error: tool garbled gave details that are not JSON", "toolResult silent: (no output)", "assistant: done",
	}
	if got := talk[2:]; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := strings.Join(results, " "); got != "slow quick fails crashes garbled silent" {
		t.Errorf("tool_result came for %s", got)
	}
	if got := strings.Join(ends, ","); got != "slow false,quick false,blocked true,unknown true,invalid true,broken true,fails true,crashes true,garbled true,silent false" {
		t.Errorf("tool_execution_end: %s", got)
	}
	if n := strings.Count(strings.Join(l.kinds, " "), "tool_execution_start"); n != 10 {
		t.Errorf("%d calls were said to start", n)
	}
}

func TestCallsAreAllPreparedBeforeTheFirstRuns(t *testing.T) {
	var mu sync.Mutex
	var steps []string
	note := func(s string) { mu.Lock(); defer mu.Unlock(); steps = append(steps, s) }
	look := &fakeTool{echo("look").spec, func(_ context.Context, input json.RawMessage, _ Update) (Result, error) {
		note("run")
		return TextResult("ok"), nil
	}}
	r := newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{
		on(func(e *ToolCall) { note("ask " + e.ID) }), on(func(e *ToolResult) { note("edit " + e.ID) })}},
		use(call{"a", "look", `{"n":1}`}, call{"b", "look", `{"n":2}`}), say("done"))
	r.prompt("go")
	got := strings.Join(steps, ",")
	if !strings.HasPrefix(got, "ask a,ask b,run,") || strings.Index(got, "edit a") > strings.Index(got, "edit b") {
		t.Error(got)
	}
}

func TestCallsRunAtTheSameTimeUnlessOneWantsToBeAlone(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		var mu sync.Mutex
		running, most := 0, 0
		meet := make(chan struct{}, 3)
		look := tool("look", func(ctx context.Context) (Result, error) {
			mu.Lock()
			running++
			most = max(most, running)
			if running == 3 {
				close(meet)
			}
			mu.Unlock()
			if !sequential {
				<-meet // nobody leaves before all are there
			}
			mu.Lock()
			running--
			mu.Unlock()
			return TextResult("ok"), nil
		})
		alone := echo("alone")
		alone.spec.Sequential = true
		calls := []call{{"a", "look", `{"n":1}`}, {"b", "look", `{"n":2}`}, {"c", "look", `{"n":3}`}}
		want := 3
		if sequential {
			calls, want = append(calls, call{"d", "alone", `{}`}), 1
		}
		r := newHarness(t, Options{Tools: []Tool{look, alone}}, use(calls...), say("done"))
		r.prompt("go")
		if most != want {
			t.Errorf("sequential %v: %d ran at the same time, want %d", sequential, most, want)
		}
	}
}

func TestCallsOfAnAnswerCutByLengthAreNotRun(t *testing.T) {
	r := newHarness(t, Options{Tools: []Tool{tool("look", func(context.Context) (Result, error) { panic("it ran") })}},
		deltas(append(callDeltas(call{"a", "look", `{}`}, call{"b", "look", `{"n`}), stop(message.StopLength))...), say("sorry"))
	r.prompt("go")
	want := "error: not run: the answer was cut off at the token limit before this call was complete"
	if got := r.talk(); strings.Count(got, want) != 2 || !strings.HasSuffix(got, "sorry") {
		t.Error(got)
	}
}

func TestRunEndsWhenEveryCallOfTheBatchSaysSo(t *testing.T) {
	finish := tool("finish", func(context.Context) (Result, error) { return Result{Terminate: true}, nil })
	block := on(func(e *ToolCall) { e.Block, e.Terminate = e.Name == "echo", true })
	for _, c := range []struct {
		name     string
		listener Listener
		calls    []call
		requests int
	}{
		{"all tools", listener{}, []call{{"a", "finish", `{"n":1}`}, {"b", "finish", `{}`}}, 1},
		{"one tool does not", listener{}, []call{{"a", "finish", `{}`}, {"b", "echo", `{}`}}, 2},
		{"a block and a tool", block, []call{{"a", "finish", `{}`}, {"b", "echo", `{}`}}, 1},
		{"an unknown tool is of no opinion", block, []call{{"a", "finish", `{}`}, {"b", "rm", `{}`}}, 2},
		{"terminate without block", on(func(e *ToolCall) { e.Terminate = true }), []call{{"a", "echo", `{}`}}, 2},
		{"tool_result", on(func(e *ToolResult) { e.Result.Terminate = true }), []call{{"a", "echo", `{}`}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newHarness(t, Options{Tools: []Tool{finish, echo("echo")}, Listeners: []Listener{c.listener}}, use(c.calls...), say("on"))
			err := r.Prompt(t.Context(), Prompt{Text: "go"})
			var ended *TerminatedError
			if blocked := c.name == "a block and a tool"; errors.As(err, &ended) != blocked || !blocked && err != nil {
				t.Errorf("the run ended with %v", err)
			}
			if len(r.model.requests) != c.requests {
				t.Errorf("%d requests, want %d", len(r.model.requests), c.requests)
			}
			r.wantGoesOn()
		})
	}
}

// A batch in which nothing more can be appended still ends, with no tool left
// running.
func TestBatchEndsWhenItsResultsCannotBeAppended(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		var r *harness
		ran := make(chan string, 2)
		shut := tool("shut", func(context.Context) (Result, error) {
			ran <- "shut"
			return TextResult("ok"), r.Session().Close()
		})
		shut.spec.Sequential = sequential
		wait := tool("wait", func(ctx context.Context) (Result, error) {
			<-ctx.Done()
			return Result{}, ctx.Err()
		})
		r = newHarness(t, Options{Tools: []Tool{shut, wait}}, use(call{"a", "shut", `{}`}, call{"b", "wait", `{}`}))
		if err := r.Prompt(t.Context(), Prompt{Text: "go"}); !errors.Is(err, session.ErrReadOnly) {
			t.Errorf("sequential %v: %v", sequential, err)
		}
	}
}

func TestProgressOfAToolReachesListeners(t *testing.T) {
	var got []string
	look := echo("look")
	look.run = func(_ context.Context, _ json.RawMessage, update Update) (Result, error) {
		update(TextResult("10 %"))
		return TextResult("ok"), nil
	}
	r := newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{
		on(func(e *ToolExecutionUpdate) { got = append(got, e.ID+" "+e.Partial.Content[0].Text) })}}, use(call{"a", "look", `{}`}), say("done"))
	r.prompt("go")
	if len(got) != 1 || got[0] != "a 10 %" {
		t.Errorf("updates %q", got)
	}
}

func TestOfFastProgressTheNewestReachesListenersAndNothingBehindTheEnd(t *testing.T) {
	var got []string
	var late Update
	look := echo("look")
	look.run = func(_ context.Context, _ json.RawMessage, update Update) (Result, error) {
		late = update
		for i := range 100 {
			update(TextResult(fmt.Sprint(i)))
		}
		return TextResult("ok"), nil
	}
	r := newHarness(t, Options{Tools: []Tool{look}, Listeners: []Listener{
		on(func(e *ToolExecutionUpdate) { got = append(got, e.Partial.Content[0].Text) }),
		on(func(*ToolExecutionEnd) { late(TextResult("late")) })}}, use(call{"a", "look", `{}`}), say("done"))
	r.prompt("go")
	if n := len(got); n < 2 || n > 50 || got[0] != "0" || got[n-1] != "99" {
		t.Errorf("updates %q", got)
	}
}

func TestThatAToolHasEndedIsToldBeforeTheCallsBeforeItHave(t *testing.T) {
	release := make(chan struct{})
	slow := tool("slow", func(context.Context) (Result, error) { <-release; return TextResult("s"), nil })
	fast := tool("fast", func(context.Context) (Result, error) { return TextResult("f"), errors.New("no") })
	var mu sync.Mutex
	var told []string
	note := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, text)
	}
	r := newHarness(t, Options{Tools: []Tool{slow, fast}, Listeners: []Listener{
		on(func(e *ToolRan) {
			note(fmt.Sprint("ran ", e.ID, e.Failed))
			if e.ID == "b" {
				close(release)
			}
		}),
		on(func(e *ToolExecutionEnd) { note("end " + e.ID) }),
	}}, use(call{"a", "slow", `{}`}, call{"b", "fast", `{}`}), say("done"))
	r.prompt("go")
	if want := "ran btrue, ran afalse, end a, end b"; strings.Join(told, ", ") != want {
		t.Errorf("told %q, want %s", told, want)
	}
}
