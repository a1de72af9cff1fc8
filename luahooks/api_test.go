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
	"pi/luahooks/event"
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
