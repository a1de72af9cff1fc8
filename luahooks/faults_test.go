package luahooks

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"pi/agent"
	"pi/session"
	"pi/session/message"
)

func TestAToolThatFailsIsTheLastErrorOfItsHook(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.tool{ name = "t", description = "d", execute = function()
		error("out of luck")
	end }`})
	tool, _ := r.chain.roster.list()[0].registered().Tools.Find("t")
	if tool == nil {
		t.Fatal("there is no such tool")
	}
	if _, err := tool.Run(context.Background(), json.RawMessage(`{}`), func(agent.Result) {}); err == nil {
		t.Error("the tool did not fail")
	}
	if got := r.chain.Hooks()[0].LastError; !strings.Contains(got, "a.lua:2: out of luck") {
		t.Errorf("the last error is %q", got)
	}
}

func TestACommandWithoutExitStatusHasNoneInLua(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("context", function(event)
		local m = event.messages[#event.messages]
		return { messages = { { role = "user", content = m.role .. " " .. tostring(m.exit_code) } } }
	end)`})
	status := 3
	for want, m := range map[string]*message.Message{
		"bashExecution nil": {Role: message.RoleBashExecution, Command: "ls", Cancelled: true},
		"bashExecution 3":   {Role: message.RoleBashExecution, Command: "ls", ExitCode: &status},
	} {
		e := &agent.Context{Items: []session.Item{{Message: m}}}
		r.emit(e)
		if got := e.Items[0].Message.Text(); got != want {
			t.Errorf("Lua reads %q, want %q", got, want)
		}
	}
}
