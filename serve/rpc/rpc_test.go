package rpc

import (
	"testing"

	"pi/agent"
)

func TestAPromptIsAnsweredBeforeItsRunBegins(t *testing.T) {
	t.Parallel()
	c := start(t, setup{replies: []reply{say("hello")}})
	check(t, c.answerTo(`{"id":"0","type":"get_state"}`), `{"id":"0","type":"response","command":"get_state","success":true,"data":{"model":{"id":"m",*"isStreaming":false,"isCompacting":false,"steeringMode":"one-at-a-time","followUpMode":"one-at-a-time","sessionId":"*","autoCompactionEnabled":false,"messageCount":0,"pendingMessageCount":0}}`)
	check(t, c.answerTo(prompt("1", "hi")), `{"id":"1","type":"response","command":"prompt","success":true,"data":{"disposition":"started"}}`)
	c.until(`"type":"agent_settled"`)
	want := "response:get_state response:prompt agent_start turn_start message_start message_end message_start message_update message_update message_update message_end turn_end agent_end agent_settled"
	if got := c.types(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	check(t, c.answerTo(`{"id":"2","type":"get_last_assistant_text"}`), `{"id":"2","type":"response","command":"get_last_assistant_text","success":true,"data":{"text":"hello"}}`)
	if err := c.end(); err != nil {
		t.Error(err)
	}
}

// What ends a run and is in no message is told beside the events.
func TestTheLimitThatARunReachesIsTold(t *testing.T) {
	t.Parallel()
	c := start(t, setup{settings: agent.Settings{MaxTurns: 1}, replies: []reply{call("c", "none")}})
	c.send(prompt("1", "go"))
	check(t, c.until("notify"), `{"type":"extension_ui_request",*"method":"notify","message":"stopped after 1 turns (max_turns)"*"notifyType":"error"}`)
}
