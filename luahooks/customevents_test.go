package luahooks

import (
	"fmt"
	"strings"
	"sync"
	"testing"

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
