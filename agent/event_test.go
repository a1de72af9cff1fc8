package agent

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pi/session/message"
)

func TestFailureOfAListenerStopsNobodyAndIsToldToAll(t *testing.T) {
	first, last := &log{}, &log{}
	r := newHarness(t, Options{Listeners: []Listener{first,
		try(func(*AgentStart) error { return errors.New("one") }), on(func(*AgentStart) { panic("two") }), last}}, say("hi"))
	r.prompt("go")
	want := []string{"one", "listener for agent_start crashed: two"}
	if !reflect.DeepEqual(first.notes, want) || !reflect.DeepEqual(last.notes, want) {
		t.Errorf("notices %q and %q, want %q", first.notes, last.notes, want)
	}
	if !reflect.DeepEqual(first.kinds, last.kinds) {
		t.Errorf("events %v and %v", first.kinds, last.kinds)
	}
}

func TestFailureToShowANoticeIsTheEndOfIt(t *testing.T) {
	shown := 0
	listening(try(func(*Notice) error { shown++; return errors.New("no screen") })).Notify(t.Context(), LevelInfo, "hello")
	if shown != 1 {
		t.Errorf("shown %d times", shown)
	}
}

func TestAGateEndsWithTheFirstFailureOrAnswer(t *testing.T) {
	for want, first := range map[string]Listener{
		"no":                                  try(func(*ToolCall) error { return errors.New("no") }),
		"listener for tool_call crashed: out": on(func(*ToolCall) { panic("out") }),
		"":                                    on(func(e *ToolCall) { e.Block = true }),
	} {
		e := &ToolCall{}
		all := listening(on(func(*Notice) {}), first, on(func(*ToolCall) { t.Error("the next one was asked") }))
		if err := all.emitGate(t.Context(), e, func() bool { return e.Block }); fmt.Sprint(err) != want && (err != nil || want != "") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestEventNobodyWantsAllocatesNothing(t *testing.T) {
	r := newHarness(t, Options{Listeners: []Listener{on(func(*Input) {})}}, say("x"))
	ctx := t.Context()
	s := &step{call: message.Block{ID: "a", Name: "look"}}
	run := &run{parts: r.parts}
	answer := &stream{run: run, events: r.events, model: r.Model(), started: false}
	for name, emit := range map[string]func(){
		"turn_start": func() {
			run.events.emitIf(ctx, KindTurnStart, func() Event { return &TurnStart{Timestamp: r.now().UnixMilli()} })
		},
		"message_start": func() { answer.started = false; answer.start(ctx, nil) },
		"tool_execution_start": func() {
			run.events.emitIf(ctx, KindToolExecutionStart, func() Event { return &ToolExecutionStart{s.call.ID, s.call.Name, nil} })
		},
		"tool_execution_update": func() { r.gate.updates(ctx, s.call) },
		"tool_execution_end": func() {
			run.events.emitAfter(ctx, KindToolExecutionEnd, func() Event { return &ToolExecutionEnd{s.call.ID, s.call.Name, nil, s.result, 0} })
		},
		"message_end": func() { answer.askEnd(ctx, nil) },
		"tool_result": func() { r.gate.finishCall(ctx, &approvedCall{}, s.result) },
		"context":     func() { r.conversation.refresh(ctx) },
	} {
		if n := testing.AllocsPerRun(100, emit); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestEveryKindHasAName(t *testing.T) {
	seen := map[string]bool{}
	for k := KindNone + 1; k < numKinds; k++ {
		if k.String() == "" || seen[k.String()] {
			t.Errorf("kind %d is called %q", k, k)
		}
		seen[k.String()] = true
	}
}

// golden is the log of a program, one stretch per step of it.
type golden struct {
	t   *testing.T
	log *log
}

func (g golden) step(name, want string) {
	g.t.Helper()
	g.log.mu.Lock()
	defer g.log.mu.Unlock()
	if got, want := strings.Join(g.log.kinds, " "), strings.Join(strings.Fields(want), " "); got != want {
		g.t.Errorf("%s: events\n%s\nwant\n%s", name, got, want)
	}
	g.log.kinds = nil
}

func TestEventsComeInTheirOrder(t *testing.T) {
	l := &log{}
	g := golden{t, l}
	r := newHarness(t, Options{Tools: []Tool{echo("look")}, Listeners: []Listener{l}},
		use(call{"a", "look", `{}`}), say("done"), say("again"))
	r.Start(t.Context())
	g.step("start", "session_start context")
	r.prompt("go")
	const update = "message_update " // one per delta, and one when the stream is over
	g.step("prompt", `input before_agent_start agent_start
		turn_start context message_start `+update+update+update+` message_end
		tool_execution_start tool_call tool_clock tool_clock tool_ran tool_result tool_execution_end turn_end
		turn_start context message_start `+update+update+` message_end turn_end
		agent_before_settle agent_end agent_settled`)
	first := r.Session().File()
	if err := r.NewSession(t.Context(), NewSessionOptions{}); err != nil {
		t.Fatal(err)
	}
	g.step("/new", "session_before_switch session_before_new session_shutdown session_switch session_new session_start context")
	if err := r.SwitchSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	g.step("/resume", "session_before_switch session_shutdown session_switch session_start context")
	if err := r.SwitchSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	g.step("/resume of the same", "")
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.step("exit", "session_shutdown")
}

func TestProviderEventsStandBetweenContextAndAnswer(t *testing.T) {
	l := &log{}
	g := golden{t, l}
	r := newHarness(t, Options{Listeners: []Listener{l}}, onTheWire(say("hi")))
	r.prompt("go")
	g.step("prompt", `input before_agent_start agent_start turn_start context
		before_provider_request before_provider_headers after_provider_response
		message_start message_update message_update message_end turn_end agent_before_settle agent_end agent_settled`)
}
