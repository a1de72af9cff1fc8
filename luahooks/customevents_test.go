package luahooks

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
)

func TestEmitReachesTheOtherHooksInChainOrder(t *testing.T) {
	hears := `pi.on("x:done", function(e, ctx)
		pi.send(pi.hook.name .. e.type .. (e.data and e.data.n or "nil") .. tostring(ctx.has_ui))
		if e.data then e.data.n = "spoiled" end
		return { result = "ignored", unknown = 1 }
	end)`
	r := newRig(t, map[string]string{
		"a.lua": hears, "c.lua": hears,
		"b.lua": hears + ` pi.on("input", function(e)
			local data = { n = 1 }
			assert(pi.emit("x:done", data) == true)
			pi.emit("x:done"); pi.emit("x:nobody", { 1 })
			return { text = tostring(data.n) }
		end)`,
	})
	if got := r.input(""); got != "1" {
		t.Errorf("the data became %q", got)
	}
	if got := r.host.texts(); got != "ax:done1true cx:done1true ax:doneniltrue cx:doneniltrue" {
		t.Errorf("heard %q", got)
	}
	r.mustBeQuiet()
}

func TestEmitRefusesWhatCannotBe(t *testing.T) {
	for body, want := range map[string]string{
		`pi.emit("done")`:                             `"done" is no name for an event of a hook; put a colon in it, such as lua:done`,
		`pi.emit("x:y", { a = { f = print } })`:       "data: at .a.f: a function",
		`pi.emit("x:y", print)`:                       "data: ",
		`pi.emit()`:                                   "bad argument #1",
		`pi.on("tool_cal", print)`:                    `did you mean "tool_call"?`,
		`pi.on("x:y", print); return { text = "ok" }`: "ok",
	} {
		r := newRig(t, nil)
		if got := r.lua(body); !strings.Contains(got, want) || want != "ok" && !strings.Contains(got, "lua.lua:1") {
			t.Errorf("%s gives %q, want %q", body, got, want)
		}
	}
	newRig(t, map[string]string{"a.lua": `pi.emit("x:y")`}).mustSay("a.lua:1", "emit: not available while the hook loads")
}

func TestAnErrorOfAListenerIsItsOwn(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.on("x:y", function() error("broken") end)`,
		"b.lua": `pi.on("x:y", function() pi.send("b") end)`,
		"c.lua": `pi.on("input", function() pi.emit("x:y") return { text = "went on" } end)`,
	})
	if got := r.input(""); got != "went on" || r.host.texts() != "b" {
		t.Errorf("got %q, heard %q", got, r.host.texts())
	}
	r.mustSay("hook a: x:y:", "a.lua:1: broken")
}

func TestHooksThatEmitIntoEachOtherEndWithAnError(t *testing.T) {
	echo := func(from, to string) string {
		return fmt.Sprintf(`pi.on("x:%s", function(e) pi.emit("x:%s", e.data + 1) end)`, from, to)
	}
	r := newRig(t, map[string]string{
		"a.lua": echo("a", "b"), "b.lua": echo("b", "a"),
		"c.lua": `pi.on("input", function() pi.emit("x:a", 1) return { text = "ended" } end)`,
	})
	if got := r.input(""); got != "ended" {
		t.Errorf("got %q", got)
	}
	r.mustSay("emit: x:", "is the 9th event in a row", "they would never end")
}

func TestHooksThatEmitAtOnceDoNotDeadlock(t *testing.T) {
	both := `pi.on("input", function(e) pi.emit(pi.hook.name .. ":ask", e.text) end)
		pi.on("tool_call", function(e) pi.emit(pi.hook.name .. ":ask", "t") end)`
	r := newRig(t, map[string]string{
		"a.lua": both + ` pi.on("b:ask", function(e) pi.emit("a:answer", e.data) end) pi.on("b:answer", function() end)`,
		"b.lua": both + ` pi.on("a:ask", function(e) pi.emit("b:answer", e.data) end) pi.on("a:answer", function() end)`,
	})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			if i%2 == 0 {
				_ = r.chain.Handle(t.Context(), &agent.Input{Text: fmt.Sprint(i)})
			} else if e := r.bash("x"); e.Block {
				t.Errorf("blocked: %s", e.Reason)
			}
		})
	}
	all.Wait()
	r.mustBeQuiet()
}

func TestAHookThatWaitsInADialogStillGetsItsTimersAndEvents(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `local timer = require "pi.timer"
			pi.on("tool_call", function(e, ctx)
				timer.after(1, function() pi.send("timer") end)
				if not ctx.ui.confirm("go?") then return { block = true } end
			end)
			pi.on("x:y", function() pi.send("emitted") end)`,
		"b.lua": `pi.on("turn_start", function() pi.emit("x:y") end)`,
	})
	asked, answer := r.ui.dialogs()
	done := make(chan *agent.ToolCall)
	go func() { done <- r.bash("ls") }()
	<-asked
	r.emit(&agent.TurnStart{})
	until(t, func() bool { return strings.Contains(r.host.texts(), "timer") })
	if got := r.host.texts(); !strings.Contains(got, "emitted") {
		t.Errorf("heard %q", got)
	}
	answer <- true
	if e := <-done; e.Block {
		t.Errorf("blocked: %s", e.Reason)
	}
}

func TestHooksThatCallToolsAtOnceDoNotDeadlock(t *testing.T) {
	gate := `pi.on("tool_call", function(e) if e.input.command == "outer" then assert(pi.call_tool("bash", { command = "inner" })) end end)`
	a, r := program(t, map[string]string{"m.lua": caller, "a.lua": gate, "b.lua": gate}, echoTool{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := a.CallTool(t.Context(), "bash", []byte(`{"command":"outer"}`)); got.IsError {
				t.Errorf("it failed: %+v", got)
			}
		})
	}
	all.Wait()
	r.mustBeQuiet()
}

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
