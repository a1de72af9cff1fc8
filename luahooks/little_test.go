package luahooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pi/agent"
)

func TestWhatShowsSomethingGivesNothingBack(t *testing.T) {
	r := newRig(t, nil)
	for _, call := range []string{`set_status("k", "v")`, `set_title("t")`, `set_working_message("w")`, `set_editor_text("e")`, `set_widget("k", {})`} {
		if got := r.lua(`return { text = tostring(select("#", ctx.ui.` + call + `)) }`); got != "0" {
			t.Errorf("%s gives %s values", call, got)
		}
	}
	if got := r.lua(`return { text = select(2, pcall(ctx.ui.set_status, "", "v")) }`); !strings.Contains(got, "the key is empty") {
		t.Errorf("an empty key: %q", got)
	}
}

func TestWhatIsWrittenIntoMessagesIsNotReadAgain(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("input", function(e, ctx)
		local first, rest = ctx.messages[1], ctx.messages
		local was, n = first.content, #rest
		first.content, first.mine = "changed", true
		rest[2] = nil
		table.insert(rest, { role = "user" })
		local again = ctx.messages
		assert(again[1].content == was or again[1].content[1].text == was[1].text, "what was written is read")
		assert(again[1].mine == nil and #again == n and again[2] ~= nil, "the list is another")
		assert(again[2] == again[2] and first.content == "changed", "a list of one's own is one's own")
		return { text = "ok" }
	end)`})
	conversation(t, r)
	if got := r.input(""); got != "ok" {
		t.Errorf("got %q: %v", got, r.host.notices())
	}
}

func TestCommandsToolsAndTimersAreCountedAndTraced(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.command("c", { handler = function(ctx) if ctx.args_raw == "bad" then error("bad") end end })
		pi.shortcut("alt+x", { description = "d", handler = function() end })
		pi.tool{ name = "own", description = "d", execute = function() return "x" end }
		pi.on("input", function() require("pi.timer").after(1, function() print("ticked") end) end)`})
	mustDo(t, r.chain.Trace("a", true))
	_, _ = r.command("c").Run(t.Context(), "")
	_, _ = r.command("c").Run(t.Context(), "bad")
	_, _ = r.chain.Shortcuts()[0].Run(t.Context())
	if _, err := r.host.tool(t, "own").Run(t.Context(), []byte(`{}`), nil); err != nil {
		t.Error(err)
	}
	r.input("x")
	until(t, func() bool { return r.said("hook a: timer.after: ran in ") })
	r.mustSay("hook a: /c: ran in ")
	r.mustSay("hook a: /c: error: ", "bad")
	r.mustSay("hook a: shortcut alt+x: ran in ")
	r.mustSay("hook a: tool own: ran in ")
	counted := map[string][2]int{}
	h := r.chain.Hooks()[0]
	for _, s := range h.Stats {
		counted[s.Event] = [2]int{s.Calls, s.Errors}
	}
	for what, want := range map[string][2]int{"/c": {2, 1}, "shortcut alt+x": {1, 0}, "tool own": {1, 0}, "timer.after": {1, 0}, "input": {1, 0}} {
		if counted[what] != want {
			t.Errorf("%s: %v, want %v", what, counted[what], want)
		}
	}
	if h.Calls != 6 || h.Errors != 1 {
		t.Errorf("%d calls, %d errors", h.Calls, h.Errors)
	}
}

// What stands in the place of one of the program's tools cannot call that one.
func TestAToolThatReplacesAnotherAndCallsItIsTold(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"itself": {"t.lua": `pi.tool{ name = "bash", description = "d", execute = function(params)
			return pi.call_tool("bash", params)
		end }`},
		"by way of another": {"t.lua": `pi.tool{ name = "bash", description = "d", execute = function(params) return pi.call_tool("other", params) end }`,
			"u.lua": `pi.tool{ name = "other", description = "d", execute = function(params)
			return pi.call_tool("bash", params)
		end }`},
	} {
		t.Run(name, func(t *testing.T) {
			files["p.lua"] = caller
			a, r := program(t, files, echoTool{})
			mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
			a.WaitIdle(t.Context())
			got := answerOf(t, a)
			if !strings.Contains(got, ".lua:2: call_tool: bash is the tool that is running, and would call itself") {
				t.Errorf("answer %q, notices %q", got, r.host.notices())
			}
			if calls := r.chain.Hooks()[1].Calls; calls > 1 {
				t.Errorf("it was called %d times", calls)
			}
		})
	}
}

// One that stands for itself may.
func TestAToolOfAHookMayCallItself(t *testing.T) {
	a, r := program(t, map[string]string{"p.lua": strings.ReplaceAll(caller, `name = "bash"`, `name = "own"`),
		"t.lua": `local depth = 0 pi.tool{ name = "own", description = "d", execute = function(params)
			depth = depth + 1
			if depth == 3 then return "deep" end
			return pi.call_tool("own", params)
		end }`})
	mustDo(t, a.Prompt(t.Context(), agent.Prompt{Text: "ls"}))
	a.WaitIdle(t.Context())
	if got := answerOf(t, a); got != "result: deep" {
		t.Errorf("answer %q, notices %q", got, r.host.notices())
	}
}

func TestWhatOtherProgramsCallOtherwiseIsSuggested(t *testing.T) {
	for code, want := range map[string]string{
		`pi.on("session_before_fork", function() end)`:                                    `did you mean "session_before_branch"?`,
		`pi.on("toolCall", function() end)`:                                               `did you mean "tool_call"?`,
		`pi.tool{ name = "t", description = "d", params = {}, execute = function() end }`: `unknown option "params", did you mean "parameters"?`,
		`pi.tool{ name = "t", desc = "d", execute = function() end }`:                     `unknown option "desc", did you mean "description"?`,
		`pi.tool{ name = "t", description = "d", handler = function() end }`:              `unknown option "handler", did you mean "execute"?`,
		`pi.command("c", { desc = "d", handler = function() end })`:                       `did you mean "description"?`,
		`pi.command("c", { action = function() end })`:                                    `unknown option "action", did you mean "handler"?`,
		`pi.shortcut("alt+x", { action = function() end })`:                               `did you mean "handler"?`,
		`pi.registerTool{ name = "t" }`:                                                   `did you mean "tool"?`,
		`pi.registerCommand("c", {})`:                                                     `did you mean "command"?`,
		`local s = require "pi.schema" s.str("x")`:                                        `did you mean "string"?`,
		`pi.on("input", function(e, ctx) ctx.ui.set_staus("a", "b") end)`:                 `did you mean "set_status"?`,
		`pi.on("input", function(e, ctx) ctx.ui.custom({ draw = function() end }) end)`:   `unknown option "draw", did you mean "render"?`,
		`pi.on("input", function(e, ctx) ctx.ui.select("t", { { label = "a" } }) end)`:    `option "value" is missing`,
		`pi.on("input", function(e, ctx) ctx.ui.select("t", { a = 1 }) end)`:              `list expected, got a table without one`,
	} {
		r := newRig(t, nil)
		r.write("a.lua", code)
		r.reload()
		r.input("x")
		if said := strings.Join(r.host.notices(), "\n"); !strings.Contains(said, want) {
			t.Errorf("%s\nsays %q, want %q", code, said, want)
		}
	}
}

func TestBeforeThereIsASessionErrorsSaySo(t *testing.T) {
	r := newRig(t, nil)
	r.write("a.lua", `pi.on("app_start", function(e, ctx) ctx.set_model("a", "b") end)`)
	c := New(r.chain.opts)
	c.Load(t.Context())
	defer c.Close(t.Context())
	mustDo(t, c.Handle(t.Context(), &agent.AppStart{}))
	if said := strings.Join(c.PendingNotices(), "\n"); !strings.Contains(said, "set_model: not available before there is a session; use session_start") {
		t.Errorf("said %q", said)
	}
}

// Before there is a front end a person can be asked all the same.
func TestHooksThatDecideAboutAProjectCanAsk(t *testing.T) {
	r := newRig(t, nil)
	r.write("a.lua", `pi.on("project_trust", function(e, ctx)
		if ctx.has_ui and ctx.ui.confirm("Trust it?") then return { trusted = { [e.files[1].sha256] = true } } end
	end)`)
	project := filepath.Join(r.cwd, ".pi", "hooks")
	mustDo(t, os.MkdirAll(project, 0o755))
	mustDo(t, os.WriteFile(filepath.Join(project, "p.lua"), []byte(`pi.on("input", function() return { text = "project" } end)`), 0o644))
	for _, yes := range []bool{true, false} {
		c := New(r.chain.opts)
		c.Meet(&fakeUI{ask: func(context.Context, string, string) (string, bool, error) { return "", yes, nil }})
		if skipped := c.Load(t.Context()); (len(skipped) == 0) != yes {
			t.Errorf("answered %v: skipped %v, said %q", yes, skipped, c.PendingNotices())
		}
		c.Close(t.Context())
	}
}

func TestACommandThatWasJustSavedIsThere(t *testing.T) {
	r := newRig(t, nil)
	r.write("a.lua", `pi.command("new", { handler = function() end })`)
	if len(r.chain.Commands()) != 0 {
		t.Fatal("nobody looked")
	}
	r.chain.CatchUp(t.Context())
	r.command("new")
}
