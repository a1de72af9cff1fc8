package luahooks

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"pi/agent"
	"pi/agent/llm"
	"pi/luahooks/api"
	"pi/luahooks/event"
	"pi/session"
	"pi/session/message"
)

// lua runs a body as the handler of an input event and returns the text it
// gives, or what went wrong.
func (r *rig) lua(body string) string {
	r.t.Helper()
	r.write("lua.lua", "pi.on('input', function(e, ctx) "+body+" end)")
	r.chain.Reload(context.Background(), false)
	r.host.forget()
	got := r.input("")
	if n := r.host.notices(); len(n) > 0 {
		return strings.Join(n, "\n")
	}
	return got
}

func TestExec(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	cases := []struct{ body, want string }{
		{`local x = pi.exec("sh", {"-c", "echo out; echo err >&2; exit 3"}); return { text = x.stdout .. x.stderr .. x.code .. tostring(x.killed) }`, "out\nerr\n3false"},
		{`local x = ctx.exec("cat", nil, { stdin = "in" }); return { text = x.stdout }`, "in"},
		{`local x = pi.exec("sh", {"-c", "echo $A; pwd"}, { env = { A = "a b" }, cwd = "/" }); return { text = x.stdout }`, "a b\n/\n"},
		{`local x = pi.exec("pwd"); return { text = tostring(x.stdout == ctx.cwd .. "\n") }`, "true"},
		{`local x, err = pi.exec("no-such-program"); return { text = tostring(x) .. " " .. err }`, "nil start no-such-program: "},
		{`local x, err = pi.exec("ls", {}, { cwd = "/no/such" }); return { text = tostring(x) .. " " .. err }`, "nil start ls: cwd: stat /no/such: no such file or directory"},
		{`local x = pi.exec("sleep", {"10"}, { timeout = 30 }); return { text = tostring(x.killed) }`, "true"},
		{`local x = pi.exec("sh", {"-c", "sleep 10 & echo started"}, { timeout = 5000 }); return { text = x.stdout }`, "started\n"},
		{`pi.exec("ls", "x")`, "expected, got string"},
		{`pi.exec("ls", {}, { tmeout = 1 })`, `did you mean "timeout"`},
		{`local ok, err = pcall(pi.exec, "ls", {}, { cwd = 1 }); return { text = err }`, "cwd"},
		{`pi.exec()`, "string expected"},
	}
	for _, c := range cases {
		if got := r.lua(c.body); !strings.HasPrefix(got, c.want) && !(strings.Contains(got, "lua.lua:1: ") && strings.Contains(got, c.want)) {
			t.Errorf("%s\ngave %q, want %q", c.body, got, c.want)
		}
	}
}

func TestAnInterruptEndsTheProgramsOfAHook(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(e, ctx)
		pi.exec("sh", {"-c", "trap 'echo ended > end; exit' TERM; echo > begun; while :; do sleep 0.01; done"}) end)`})
	ctx, cancel := context.WithCancel(context.Background())
	var call sync.WaitGroup
	call.Go(func() { _ = r.chain.Handle(ctx, &agent.ToolCall{Name: "x", Input: []byte(`{}`)}) })
	until(t, func() bool { _, err := os.Stat(filepath.Join(r.cwd, "begun")); return err == nil })
	cancel()
	call.Wait()
	until(t, func() bool { _, err := os.Stat(filepath.Join(r.cwd, "end")); return err == nil })
}

func until(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen")
		}
	}
}

func TestSaveEntry(t *testing.T) {
	r := newRig(t, nil)
	r.host.user("x")
	cases := []struct{ body, want string }{
		{`ctx.save_entry{}`, "save_entry: entry must have a type"},
		{`ctx.save_entry{ type = "message" }`, `entry type "message" is reserved`},
		{`ctx.save_entry{ type = "session" }`, `entry type "session" is reserved`},
		{`ctx.save_entry{ type = "x", a = { b = { print } } }`, "save_entry: entry: at .a.b[1]: a function"},
		{`ctx.save_entry{ type = "x", n = 0/0 }`, "at .n:"},
		{`ctx.save_entry("x")`, "table expected"},
		{`local id = ctx.save_entry{ type = "my_x", id = "mine", parent_id = "mine", timestamp = "never", deep = { list = { 1, 2 } } }
			local e = ctx.entries[#ctx.entries]
			assert(e.id == id and id ~= "mine" and e.parent_id == ctx.entries[1].id and e.timestamp ~= "never" and e.deep.list[2] == 2 and e.type == "my_x")
			return { text = "saved" }`, "saved"},
	}
	for _, c := range cases {
		if got := r.lua(c.body); !strings.Contains(got, c.want) {
			t.Errorf("%s\ngave %q, want %q", c.body, got, c.want)
		}
	}
	if n := len(r.host.session.Branch()); n != 2 {
		t.Errorf("%d entries", n)
	}
}

func TestSend(t *testing.T) {
	r := newRig(t, nil)
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	mustDo(t, os.WriteFile(filepath.Join(r.cwd, "note.txt"), []byte("words"), 0o644))
	mustDo(t, os.WriteFile(filepath.Join(r.cwd, "blob"), []byte{0, 1, 2}, 0o644))
	got := r.lua(`
		assert(pi.send("hello") == true)
		pi.send("  ")
		assert(pi.send("", { { path = "note.txt" }, { data = "` + png + `" }, { text = "T", name = "n" } }))
		local x, err = pi.send("a", { { path = "blob" } }); assert(x == nil and err:find("neither an image nor text"), err)
		x, err = pi.send("a", { { path = "missing" } }); assert(x == nil and err:find("no such file"), err)
		x, err = pi.send("a", { { data = "%%%" } }); assert(x == nil and err:find("not base64"), err)
		x, err = pi.send("a", { {} }); assert(x == nil and err:find("no path, data or text"), err)
		assert(not pcall(pi.send, "a", { 1 }))
		assert(not pcall(pi.send, "a", { { pth = "x" } }))
		return { text = "ok" }`)
	if got != "ok" {
		t.Fatal(got)
	}
	if r.host.texts() != "hello " || r.host.sent[1].Source != "hook" {
		t.Errorf("sent %+v", r.host.sent)
	}
	a := r.host.sent[1].Attachments
	if len(a) != 3 || !strings.Contains(a[0].Text, "note.txt") || !strings.Contains(a[0].Text, "words") || a[1].MimeType != "image/png" || a[1].Data != png ||
		!strings.Contains(a[2].Text, `"n"`) {
		t.Errorf("attachments %+v", a)
	}
}

func TestDialogs(t *testing.T) {
	r := newRig(t, nil)
	r.ui.ask = func(_ context.Context, kind, title string) (string, bool, error) { return kind + title, true, nil }
	const ask = `return { text = table.concat({ tostring(ctx.has_ui), tostring(ctx.ui.confirm("?")), tostring(ctx.ui.select("?", { "a", "select?" })), tostring(ctx.ui.input("?")) }, " ") }`
	if got := r.lua(ask); got != "true true select? input?" {
		t.Errorf("with a person: %q", got)
	}
	r.ui.absent = true
	if got := r.lua(ask); got != "false false nil nil" {
		t.Errorf("without one: %q", got)
	}
	if got := r.lua(`ctx.ui.select("?", "a")`); !strings.Contains(got, "expected, got string") {
		t.Error(got)
	}
	if got := r.lua(`ctx.ui.notify("100%d", "warning")`); got != "warning: 100%d" {
		t.Error(got)
	}
	if got := r.lua(`ctx.ui.notify("x", "loud")`); !strings.Contains(got, `info, warning or error expected, got "loud"`) {
		t.Error(got)
	}
}

func TestLogAndPrint(t *testing.T) {
	r := newRig(t, nil)
	if got := r.lua(`pi.log("100%s", { a = 1 }, nil, print ~= nil); print("a", 1); return { text = "x" }`); got != "info: lua: a\t1" {
		t.Errorf("printed %q", got)
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(r.dir), "hooks.log"))
	if err != nil || !strings.HasSuffix(string(b), ` lua: 100%s {"a":1} nil true`+"\n") {
		t.Errorf("log is %q, %v", b, err)
	}
	info, _ := os.Stat(filepath.Join(filepath.Dir(r.dir), "hooks.log"))
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v", info.Mode())
	}
}

func TestCommands(t *testing.T) {
	r := newRig(t, map[string]string{
		"a.lua": `pi.command("c", { description = "D", complete = function(p) return { p .. "1", p .. "2" } end,
			handler = function(ctx)
				if ctx.args[1] == "raise" then error("broken") end
				if ctx.args[1] == "bad" then return { promt = "x" } end
				if ctx.args[1] == "entry" then ctx.save_entry{ type = "mine" } return end
				if ctx.args[1] == "nil" then return end
				if ctx.args[1] == "prompt" then return { prompt = "P", attachments = { { text = "A" } }, status = "S" } end
				return table.concat(ctx.args, "|") .. "<" .. ctx.args_raw .. ">" .. ctx.model.id
			end })`,
		"b.lua": `pi.command("/c", { handler = function() return { status = "second" } end })`,
		"d.lua": `pi.command("a b", { handler = print })`,
	})
	r.mustSay("command /c is in", "a.lua", "b.lua", "the second is /c:2")
	r.mustSay("hook d did not load", `"a b" is no command name`)
	all := r.chain.Commands()
	if len(all) != 2 || all[0].Name != "c" || all[0].Help != "D" || all[0].Hook != "a" || all[1].Name != "c:2" {
		t.Fatalf("commands are %+v", all)
	}
	run := all[0].Run
	out, err := run(context.Background(), `one "two words" $HOME 'it''s' a\ b`)
	if err != nil || out.Prompt == nil || out.Prompt.Text != `one|two words|$HOME|its|a b<one "two words" $HOME 'it''s' a\ b>m` || out.Prompt.Source != "hook" {
		t.Errorf("outcome %+v, %v", out.Prompt, err)
	}
	if out, err := run(context.Background(), "nil"); err != nil || out.Prompt != nil || out.Status != "" {
		t.Errorf("nil gives %+v, %v", out, err)
	}
	if out, err := run(context.Background(), "prompt"); err != nil || out.Prompt.Text != "P" || len(out.Prompt.Attachments) != 1 || out.Status != "S" {
		t.Errorf("a table gives %+v, %v", out, err)
	}
	if _, err := run(context.Background(), "raise"); err == nil || !strings.HasPrefix(err.Error(), "hook a: ") || strings.Contains(err.Error(), "/c:") || !strings.Contains(err.Error(), "a.lua:3: broken") {
		t.Errorf("raising gives %v", err)
	}
	if _, err := run(context.Background(), "bad"); err == nil || !strings.Contains(err.Error(), `did you mean "prompt"`) {
		t.Errorf("a bad result gives %v", err)
	}
	if got := all[0].Complete("x"); !reflect.DeepEqual(got, []string{"x1", "x2"}) {
		t.Errorf("candidates %v", got)
	}
	r.write("a.lua", `pi.command("c", { handler = function() return { status = "new" } end })`)
	r.chain.Reload(context.Background(), false)
	if out, err := run(context.Background(), ""); err != nil || out.Status != "new" {
		t.Errorf("after a reload the old command gives %+v, %v", out, err)
	}
}

func TestTools(t *testing.T) {
	core := namedTool("bash")
	r := newRig(t, map[string]string{
		"a.lua": `pi.tool{ name = "t", label = "L", description = "D", prompt_snippet = "S", prompt_guidelines = { "G" }, execution = "sequential",
			parameters = { type = "object", properties = { n = { type = "integer" } }, required = { "n" } },
			prepare_arguments = function(raw) raw.n = raw.n + 1 return raw end,
			execute = function(p, ctx, call)
				call.update{ content = "half" }
				if p.n == 1 then error("failed 100%") end
				if p.n == 2 then return { content = { { type = "text", text = "two" } }, details = { p = p }, is_error = true, terminate = true, usage = { input = 1 } } end
				if p.n == 3 then return { contnt = "x" } end
				return "n is " .. p.n
			end }`,
		"b.lua": `pi.tool{ name = "bash", description = "mine", execute = function(p) return p.oldText end }
			pi.on("input", function() pi.tool{ name = "late", description = "D", execute = function() return ctx end } end)`,
		"c.lua": `pi.tool{ name = "x", description = "D", execution = "quick", execute = print }`,
	}, func(o *Options) { o.Tools = []agent.Tool{core} })
	r.mustSay("hook b replaces the tool bash")
	r.mustSay("hook c did not load", `execution must be "parallel" or "sequential"`)
	tool := r.host.tool(t, "t")
	spec := tool.Spec()
	if spec.Label != "L" || spec.Description != "D" || spec.Snippet != "S" || !reflect.DeepEqual(spec.Guidelines, []string{"G"}) || !spec.Sequential ||
		string(spec.Parameters) != `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}` {
		t.Errorf("spec is %+v %s", spec, spec.Parameters)
	}
	var updates []string
	run := func(input string) (agent.Result, error) {
		raw, err := tool.(agent.Preparer).Prepare(context.Background(), json.RawMessage(input))
		mustDo(t, err)
		return tool.Run(context.Background(), raw, func(u agent.Result) { updates = append(updates, u.Content[0].Text) })
	}
	if res, err := run(`{"n":5}`); err != nil || res.Content[0].Text != "n is 6" || len(updates) != 1 || updates[0] != "half" {
		t.Errorf("result %+v, %v, updates %v", res, err, updates)
	}
	if _, err := run(`{"n":0}`); err == nil || !strings.Contains(err.Error(), "a.lua:6: failed 100%") {
		t.Errorf("raising gives %v", err)
	}
	if res, err := run(`{"n":1,"big":12345678901234567890}`); err != nil || !res.IsError || !res.Terminate || res.Usage.Input != 1 || string(res.Details) != `{"p":{"n":2,"big":12345678901234567890}}` {
		t.Errorf("a table gives %+v %s, %v", res, res.Details, err)
	}
	if _, err := run(`{"n":2}`); err == nil || !strings.Contains(err.Error(), `did you mean "content"`) {
		t.Errorf("a bad result gives %v", err)
	}
	if res, err := r.host.tool(t, "bash").Run(context.Background(), json.RawMessage(`{"oldText":"as sent"}`), nil); err != nil || res.Content[0].Text != "as sent" {
		t.Errorf("the replaced tool gives %+v, %v", res, err)
	}
	r.input("")
	r.host.tool(t, "late")
	mustDo(t, os.Remove(filepath.Join(r.dir, "b.lua")))
	r.chain.Reload(context.Background(), false)
	if r.host.tool(t, "bash") != core || len(r.host.tools) != 2 {
		t.Errorf("without hook b the tools are %v", r.host.tools)
	}
	r.write("a.lua", `pi.tool{ name = "t", description = "D", execute = function() return "new" end }`)
	r.chain.Reload(context.Background(), false)
	if res, err := run(`{}`); err != nil || res.Content[0].Text != "new" {
		t.Errorf("after a reload the old tool gives %+v, %v", res, err)
	}
}

type namedTool string

func (n namedTool) Spec() llm.ToolSpec { return llm.ToolSpec{Name: string(n)} }
func (n namedTool) Run(context.Context, json.RawMessage, agent.Update) (agent.Result, error) {
	return agent.TextResult(string(n)), nil
}

func TestAPanicBecomesAnErrorWithTheHooksLine(t *testing.T) {
	r := newRig(t, nil)
	r.ui.ask = func(context.Context, string, string) (string, bool, error) { panic("front end broke 100%d") }
	got := r.lua("\n\nctx.ui.confirm('?')")
	if !strings.Contains(got, "lua.lua:3:") || !strings.Contains(got, "front end broke 100%d") {
		t.Errorf("shown: %s", got)
	}
	r.ui.ask = func(context.Context, string, string) (string, bool, error) { return "", true, nil }
	if got := r.lua("return { text = tostring(ctx.ui.confirm('?')) }"); got != "true" {
		t.Errorf("afterwards: %s", got)
	}
}

func TestErrorsThatAreTablesAreShown(t *testing.T) {
	r := newRig(t, nil)
	for body, want := range map[string]string{
		`error({ message = "in a table" })`: "in a table",
		`error({ code = 7 })`:               `7`,
		`error(setmetatable({}, { __tostring = function() return "by its own words" end }))`: "by its own words",
		`error(nil)`: "nil",
		`error()`:    "nil",
	} {
		if got := r.lua(body); !strings.Contains(got, want) || !strings.Contains(got, "lua.lua:1") {
			t.Errorf("%s shows %q", body, got)
		}
	}
}

func TestEveryEventIsDescribed(t *testing.T) {
	for _, e := range event.Infos() {
		if e.Name == "" || e.Rule == "" || e.Asking != (len(e.Results) > 0) {
			t.Errorf("event %+v", e)
		}
	}
}

func TestEveryEventHasASample(t *testing.T) {
	if n := len(samples(t)); n != len(event.Infos()) {
		t.Errorf("%d samples for %d events", n, len(event.Infos()))
	}
}

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

// Before there is a front end a user can be asked all the same.
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

func TestFunctionsRunBesideEachOther(t *testing.T) {
	const counted = `local running, most = 0, 0
		local function work(v) return function()
			running = running + 1 most = math.max(most, running)
			require("pi.timer").sleep(20)
			running = running - 1
			return v, "more"
		end end `
	for name, c := range map[string]struct{ code, want string }{
		"values":      {counted + `local a, b, c, more = pi.all{ work(1), work(nil), work("c") } return { text = tostring(a) .. tostring(b) .. c .. tostring(more) .. most }`, "1nilcnil3"},
		"the limit":   {counted + `pi.all({ work(), work(), work(), work() }, { limit = 2 }) return { text = tostring(most) }`, "2"},
		"the usual":   {counted + `local l = {} for i = 1, 9 do l[i] = work(i) end local r = { pi.all(l) } return { text = #r .. r[9] .. most }`, "994"},
		"none":        {`return { text = tostring(select("#", pi.all{})) }`, "0"},
		"an error":    {`local ok, why = pcall(pi.all, { function() require("pi.timer").sleep(60000) end, function() error({ code = 7 }) end }) return { text = tostring(why.code) }`, "7"},
		"the first":   {`local later = false local ok, why = pcall(pi.all, { function() error("one", 0) end, function() later = true end }, { limit = 1 }) return { text = why .. tostring(later) }`, "onefalse"},
		"programs":    {`local a, b = pi.all{ function() return pi.exec("echo", { "a" }).stdout end, function() return pi.exec("echo", { "b" }).stdout end } return { text = a .. b }`, "a\nb\n"},
		"all in all":  {`return { text = pi.all{ function() return (pi.all{ function() return "in" end }) end } }`, "in"},
		"no function": {`local ok, why = pcall(pi.all, { print, 2 }) return { text = why:match("list of functions expected.*") }`, "list of functions expected, [2] is a number)"},
		"too many":    {`local l = {} for i = 1, 101 do l[i] = print end local ok, why = pcall(pi.all, l) return { text = why:match("at most.*") }`, "at most 100 functions, these are 101)"},
		"no limit":    {`local ok, why = pcall(pi.all, {}, { limit = 0 }) return { text = why:match("option.*") }`, `option "limit" must be at least 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			if got := r.lua(c.code); got != c.want {
				t.Errorf("%q, want %q; notices %q", got, c.want, r.host.notices())
			}
		})
	}
}

func TestNothingRunsBesideWhileAHookLoads(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.all{ function() end }`})
	r.mustSay("a.lua:1: all: not available while the hook loads")
}

func TestHooksKnowWhereThingsAre(t *testing.T) {
	root := "/s"
	r := newRig(t, map[string]string{"a.lua": `local at_load = pi.paths.project .. pi.paths.agent .. pi.paths.program .. tostring(pi.paths.sessions)
		pi.on("input", function() return { text = at_load .. tostring(pcall(function() pi.paths.agent = "x" end)) } end)`},
		func(o *Options) { o.Paths = api.Paths{Agent: "/a", Project: "/p", Program: "/pi", Sessions: &root} })
	if got := r.input("x"); got != "/p/a/pi/sfalse" {
		t.Errorf("%q", got)
	}
	r.chain.Close(context.Background())
	r = newRig(t, map[string]string{"a.lua": `pi.on("input", function() return { text = tostring(pi.paths.sessions) } end)`})
	if got := r.input("x"); got != "nil" {
		t.Errorf("without a folder: %q", got)
	}
}

func TestTheSummaryCounts(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"0 hooks":          {},
		"1 hook":           {"a.lua": ""},
		"2 hooks":          {"a.lua": "", "b.lua": ""},
		"1 hook, 1 failed": {"a.lua": "", "b.lua": "error()"},
	} {
		if got := newRig(t, files).chain.Summary(); got != want {
			t.Errorf("summary of %v is %q, want %q", files, got, want)
		}
	}
}

func TestWhatAToolMayReturn(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `
		pi.tool{ name = "nothing", description = "d", execute = function() end }
		pi.tool{ name = "number", description = "d", execute = function() return 5 end }`})
	if res, err := r.host.tool(t, "nothing").Run(t.Context(), []byte(`{}`), nil); err != nil || len(res.Content) != 0 {
		t.Errorf("nil gives %+v, %v", res, err)
	}
	if _, err := r.host.tool(t, "number").Run(t.Context(), []byte(`{}`), nil); err == nil || !strings.Contains(err.Error(), "a.lua:3: a tool returns a string or a table, not a number") {
		t.Errorf("a number gives %v", err)
	}
}

func TestAnEventIsPrintedWhole(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(event) print(event) end)`})
	r.bash("ls")
	if said := strings.Join(r.host.notices(), "\n"); !strings.Contains(said, `"tool_name":"bash"`) || !strings.Contains(said, `"input":{"command":"ls"}`) {
		t.Errorf("said %s", said)
	}
}

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
