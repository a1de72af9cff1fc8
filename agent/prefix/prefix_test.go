package prefix

import (
	"encoding/json"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// told is a system prompt to which the hook pop added something.
func told(base, added string) Stages[string] {
	return Stages[string]{Base: base, Each: []Stage[string]{{By: "pop", Value: base + added}}}
}

func TestEachRequestIsComparedWithTheOneBeforeIt(t *testing.T) {
	one, two := new(session.Session), new(session.Session)
	var l Log
	for i, step := range []struct {
		is   Request
		want Break // zero: none
	}{
		{is: Request{Session: one, System: told("be brief", ", now")}},
		{is: Request{Session: one, System: told("be brief", ", now")}},
		{Request{Session: one, System: told("be brief", ", later")}, Break{Hook: "pop", Part: PartSystem}},
		{is: Request{Session: one, System: told("be kind", ", later")}}, // no hook is why
		{Request{Session: one, ToolsBy: "chooser", Tools: []Tool{{Spec: llm.ToolSpec{Name: "look"}}}, System: told("be kind", "")},
			Break{Hook: "chooser", Part: PartTools}},
		{is: Request{Session: two}},
	} {
		l.NoteRequest(&step.is)
		got := l.BreakOf(step.is.Session)
		if (got == nil) != (step.want == Break{}) || got != nil && *got != step.want {
			t.Errorf("request %d: %+v, want %+v", i, got, step.want)
		}
	}
	if got := l.BreakOf(one); got != nil {
		t.Errorf("of a session that was left: %+v", got)
	}
}

func TestABodyIsComparedWithTheOneBeforeIt(t *testing.T) {
	s, m := new(session.Session), new(llm.Model)
	messages := []*message.Message{{Role: message.RoleUser}}
	var l Log
	send := func(of []*message.Message, left string) *Break {
		l.NoteRequest(&Request{Session: s, Messages: messages})
		l.NoteBody(m, of, Stages[json.RawMessage]{Base: json.RawMessage(`{"tools":[]}`),
			Each: []Stage[json.RawMessage]{{By: "pop", Value: json.RawMessage(left)}}})
		return l.BreakOf(s)
	}
	if got := send(messages, `{"tools":[1]}`); got != nil {
		t.Errorf("the first body: %+v", got)
	}
	if got := send([]*message.Message{{}}, `{"tools":[2]}`); got != nil {
		t.Errorf("a body beside the conversation: %+v", got)
	}
	if got := send(messages, `{"tools":[1,{"cache_control":{"type":"ephemeral"}}]}`); got == nil || *got != (Break{Hook: "pop", Part: PartTools}) {
		t.Errorf("another tool: %+v", got)
	}
}

func TestAPrefixBreakReadsAsASentence(t *testing.T) {
	tests := map[string]Break{
		"pop changed message 3":         {Hook: "pop", Part: PartMessages, Message: 3},
		"pop changed the system prompt": {Hook: "pop", Part: PartSystem},
		"pop changed the tools":         {Hook: "pop", Part: PartTools},
	}
	for want, b := range tests {
		if got := b.String(); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}
