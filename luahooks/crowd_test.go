package luahooks

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
)

// crossed is a hook whose handlers of each event set off events of the others.
const crossed = `local timer = require "pi.timer"
	pi.on("tool_call", function(e, ctx)
		local command = e.input.command
		if command == "rm" then return { block = true, reason = "never" } end
		if command ~= "outer" then return end
		pi.emit("x:" .. pi.hook.name, 1)
		assert(#ctx.rebuild_context() >= 2)
		local result = assert(pi.call_tool("bash", { command = "inner" }))
		assert(not result.is_error)
		assert(pi.call_tool("bash", { command = "rm" }).is_error)
	end)
	pi.on("tool_result", function(e, ctx) pi.emit("x:" .. pi.hook.name, 2) ctx.rebuild_context() end)
	pi.on("context", function(e, ctx)
		pi.emit("x:seen", #e.messages)
		local l = e.messages
		l[#l + 1] = { role = "user", content = pi.hook.name }
		return { messages = l }
	end)
	pi.on("turn_start", function(e, ctx) pi.emit("x:" .. pi.hook.name, 3) ctx.rebuild_context() timer.sleep(1) end)
	for _, other in ipairs { "a", "b", "seen" } do
		if other ~= pi.hook.name then pi.on("x:" .. other, function(e, ctx) local n = #ctx.entries + #ctx.messages timer.sleep(1) end) end
	end`

func TestTwoHundredEventsThatCallEachOtherEndWithoutADeadlock(t *testing.T) {
	a, r := program(t, map[string]string{"m.lua": caller, "a.lua": crossed, "b.lua": crossed}, echoTool{})
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			if i%4 == 3 {
				mustSucceed(t, r.chain.Handle(ctx, &agent.TurnStart{TurnIndex: i}))
			} else if got := a.CallTool(ctx, "bash", []byte(`{"command":"outer"}`)); got.IsError {
				t.Errorf("it failed: %+v", got)
			}
		})
	}
	all.Wait()
	r.mustBeQuiet()
}

func mustSucceed(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

func TestWhatIsSentInAHandlerReachesTheHooksWithoutADeadlock(t *testing.T) {
	a, r := program(t, map[string]string{"m.lua": caller,
		"a.lua": `pi.on("tool_call", function(e) if e.input.command == "one" then pi.send("two") end end)
			pi.on("input", function(e) pi.emit("x:input", e.text) end)`,
		"b.lua": `pi.on("x:input", function(e) if e.data == "two" then pi.send("three") end end)
			pi.on("agent_settled", function() pi.emit("b:settled") end)`,
	}, echoTool{})
	mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "one"}))
	texts := func() string {
		var list []string
		for _, item := range a.Session().Context() {
			list = append(list, item.Message.Text())
		}
		return strings.Join(list, "\n")
	}
	until(t, func() bool { return strings.Contains(texts(), `result: ran {"command":"three"}`) })
	a.WaitIdle(t.Context())
	r.mustBeQuiet()
}
