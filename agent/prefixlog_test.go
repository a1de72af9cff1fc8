package agent

import (
	"encoding/json"
	"testing"

	"pi/agent/llm"
	"pi/session"
	"pi/session/message"
)

// told is a system prompt to which the hook pop added something.
func told(base, added string) prefixStages[string] {
	return prefixStages[string]{Base: base, Each: []prefixStage[string]{{By: "pop", Left: base + added}}}
}

func TestEachRequestIsComparedWithTheOneBeforeIt(t *testing.T) {
	one, two := new(session.Session), new(session.Session)
	var l prefixLog
	for i, step := range []struct {
		is   prefixRequest
		want PrefixBreak // zero: none
	}{
		{is: prefixRequest{Session: one, System: told("be brief", ", now")}},
		{is: prefixRequest{Session: one, System: told("be brief", ", now")}},
		{prefixRequest{Session: one, System: told("be brief", ", later")}, PrefixBreak{Hook: "pop", Part: PartSystem}},
		{is: prefixRequest{Session: one, System: told("be kind", ", later")}}, // no hook is why
		{prefixRequest{Session: one, ToolsBy: "chooser", Tools: []prefixTool{{Spec: llm.ToolSpec{Name: "look"}}}, System: told("be kind", "")},
			PrefixBreak{Hook: "chooser", Part: PartTools}},
		{is: prefixRequest{Session: two}},
	} {
		l.Sending(&step.is)
		got := l.BreakOf(step.is.Session)
		if (got == nil) != (step.want == PrefixBreak{}) || got != nil && *got != step.want {
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
	var l prefixLog
	send := func(of []*message.Message, left string) *PrefixBreak {
		l.Sending(&prefixRequest{Session: s, Messages: messages})
		l.SendingBody(m, of, prefixStages[json.RawMessage]{Base: json.RawMessage(`{"tools":[]}`),
			Each: []prefixStage[json.RawMessage]{{By: "pop", Left: json.RawMessage(left)}}})
		return l.BreakOf(s)
	}
	if got := send(messages, `{"tools":[1]}`); got != nil {
		t.Errorf("the first body: %+v", got)
	}
	if got := send([]*message.Message{{}}, `{"tools":[2]}`); got != nil {
		t.Errorf("a body beside the conversation: %+v", got)
	}
	if got := send(messages, `{"tools":[1,{"cache_control":{"type":"ephemeral"}}]}`); got == nil || *got != (PrefixBreak{Hook: "pop", Part: PartTools}) {
		t.Errorf("another tool: %+v", got)
	}
}
