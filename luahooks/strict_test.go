package luahooks

import (
	"strings"
	"testing"

	"pi/agent"
)

func TestReadingWhatIsNotThereRaisesAndNamesTheNearest(t *testing.T) {
	for body, want := range map[string]string{
		`e.toolName`:                         `the event tool_call has no field "toolName", did you mean "tool_name"?`,
		`e.inputs`:                           `did you mean "input"?`,
		`e.zzz`:                              `; it has type, tool_name, tool_call_id, input`,
		`ctx.hasUI`:                          `ctx has no field "hasUI", did you mean "has_ui"?`,
		`ctx.args`:                           `ctx has no field "args"`,
		`ctx.ui.set_staus`:                   `ctx.ui has no field "set_staus", did you mean "set_status"?`,
		`ctx.ui.theme.italics`:               `theme has no field "italics", did you mean "italic"?`,
		`ctx.session.getEntries`:             `ctx.session has no field "getEntries", did you mean "entries"?`,
		`ctx.signal.canceled`:                `signal has no field "canceled", did you mean "cancelled"?`,
		`ctx.model.contextWindow`:            `this value has no field "contextWindow", did you mean "context_window"?`,
		`pi.registerTool`:                    `pi has no field "registerTool", did you mean "tool"?`,
		`pi.sendMessage`:                     `did you mean "send_message"?`,
		`pi.hook.scop`:                       `did you mean "scope"?`,
		`require("pi.schema").str`:           `pi.schema has no field "str", did you mean "string"?`,
		`require("pi.json").parse`:           `pi.json has no field "parse", did you mean "decode"?`,
		`(function() local x = e.nme end)()`: `has no field "nme"`,
		`coroutine.wrap(function() return e.nme end)()`: `has no field "nme"`,
	} {
		r := newRig(t, map[string]string{"a.lua": "pi.on('tool_call', function(e, ctx)\n  local x = " + body + "\nend)"})
		e := r.bash("ls")
		if !e.Block || !strings.Contains(e.Reason, want) || !strings.Contains(e.Reason, "a.lua:2: ") {
			t.Errorf("%s: block %v, %q", body, e.Block, e.Reason)
		}
	}
}

func TestReadingWhatIsEmptyOrFreeIsNil(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		local json = require "pi.json"
		pi.on("tool_result", function(e, ctx)
			assert(e.usage == nil and e.input.nothing == nil and e.details.nothing == nil and e.content[1].nothing == nil and e[1] == nil)
			assert(ctx.session_file == nil and ctx[1] == nil and pi[1] == nil and json[1] == nil)
			e.mine = 1
			assert(e.mine == 1 and json.decode('{"a":1}').b == nil)
			pi.later = nil
		end)
		pi.on("x:y", function(e) assert(e.data.nothing == nil and not pcall(function() return e.date end)) print("heard") end)`,
		"b.lua": `pi.on("tool_result", function(e, ctx)
			local own = ctx.session.entry(ctx.save_entry{ type = "b_mine", a = 1 })
			assert(own.a == 1 and own.nothing == nil)
			pi.emit("x:y", { z = 1 })
		end)`})
	r.emit(&agent.ToolResult{ID: "c", Name: "bash", Input: []byte(`{"command":"ls"}`), Result: agent.Result{Content: agent.TextResult("x").Content, Details: []byte(`{"n":1}`)}})
	if n := r.host.notices(); len(n) != 1 || n[0] != "info: a: heard" {
		t.Errorf("said %q", n)
	}
}

// With rawget a hook asks what there is, without knowing the version of the program.
func TestRawgetNeverRaises(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		assert(rawget(pi, "nothing") == nil and type(rawget(pi, "on")) == "function")
		local function ask(e, ctx)
			assert(rawget(e, "nothing") == nil and rawget(e, 1) == nil and rawget(e, "type") == e.type)
			assert(rawget(ctx, "nothing") == nil and rawget(ctx, "cwd") == ctx.cwd and rawget(ctx, "has_ui") == ctx.has_ui)
			assert(rawget(ctx, "model").id == "m" and type(rawget(ctx, "messages")) == "table" and rawget(ctx, "ui") == ctx.ui)
			assert(rawget(ctx.ui, "nothing") == nil and rawget(require "pi.json", "nothing") == nil)
			print("asked in " .. e.type .. " " .. tostring(rawget(ctx, "args_raw")))
		end
		pi.on("tool_call", ask)
		pi.on("session_start", ask)
		pi.on("input", ask)
		pi.command("ask", { handler = function(ctx) ask({ type = "command" }, ctx) end })`})
	r.bash("ls")
	r.emit(&agent.SessionStart{Reason: "new"})
	r.input("x")
	if _, err := r.chain.Commands()[0].Run(t.Context(), "some words"); err != nil {
		t.Error(err)
	}
	for _, said := range []string{"tool_call nil", "session_start nil", "input nil", "command some words"} {
		r.mustSay("asked in " + said)
	}
}

// While there is no session, what needs one raises, and rawget does not.
func TestRawgetDoesNotRaiseWhereThereIsNoSession(t *testing.T) {
	r := newRig(t, nil)
	r.write("a.lua", `pi.on("app_start", function(e, ctx)
		print(tostring(rawget(ctx, "model")) .. tostring((pcall(function() return ctx.model end))) .. ctx.mode)
	end)`)
	c := New(r.chain.opts)
	c.Load(t.Context())
	defer c.Close(t.Context())
	mustDo(t, c.Handle(t.Context(), &agent.AppStart{}))
	if said := c.PendingNotices(); len(said) != 1 || said[0] != "a: nilfalseinteractive" {
		t.Errorf("said %q", said)
	}
}
