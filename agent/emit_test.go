package agent

import (
	"errors"
	"fmt"
	"reflect"
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
