package rpc

import (
	"testing"

	"pi/agent"
)

func TestTheStateIsToldWhole(t *testing.T) {
	t.Parallel()
	c := start(t, setup{options: Options{Version: "1.2.3"}})
	check(t, c.answerTo(`{"id":"0","type":"get_state"}`), `{"id":"0","type":"response","command":"get_state","success":true,"data":{"model":{"id":"m",*"isStreaming":false,"isCompacting":false,"steeringMode":"one-at-a-time","followUpMode":"one-at-a-time","sessionId":"*","autoCompactionEnabled":false,"messageCount":0,"pendingMessageCount":0,"version":"1.2.3"}}`)
}

// What ends a run and is in no message is told beside the events.
func TestTheLimitThatARunReachesIsTold(t *testing.T) {
	t.Parallel()
	c := start(t, setup{settings: agent.Settings{MaxTurns: 1}, replies: []reply{call("c", "none")}})
	c.send(prompt("1", "go"))
	check(t, c.until("notify"), `{"type":"extension_ui_request",*"method":"notify","message":"stopped after 1 turns (max_turns)"*"notifyType":"error"}`)
}
