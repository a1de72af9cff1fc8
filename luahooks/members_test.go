package luahooks

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pi/agent"
	"pi/agent/command"
)

// parrot answers every request with what it was told last, and its usage.
const parrot = `pi.provider("s", { models = { { id = "m", context_window = 1000, reasoning = true } }, stream = function(request, emit)
	local last = request.messages[#request.messages]
	local text = type(last.content) == "string" and last.content or last.content[1].text
	emit{ type = "text", text = text:upper() }
	emit{ type = "usage", input = 10, output = 5 }
end })`

// stage is a real program in which Lua snippets are tried.
type stage struct {
	*rig
	agent *agent.Agent
}

func newStage(t *testing.T) stage {
	t.Helper()
	a, r := program(t, map[string]string{"p.lua": parrot}, echoTool{})
	mustDo(t, a.Prompt(context.Background(), agent.Prompt{Text: "first"}))
	return stage{r, a}
}

// command runs a body as a command and returns its status, or what went wrong.
func (s stage) command(body string) string {
	s.t.Helper()
	s.write("lua.lua", "pi.command('run', { handler = function(ctx) "+body+" end })")
	s.chain.Reload(context.Background(), false)
	for _, c := range s.chain.Commands() {
		if c.Name == "run" {
			out, err := c.Run(context.Background(), "")
			return said(out, err)
		}
	}
	return strings.Join(s.host.notices(), "\n")
}

func said(out command.Outcome, err error) string {
	if err != nil {
		return err.Error()
	}
	return out.Status
}

// try is one snippet. where is event, command or load; a want that begins with !
// is raised, at the line of the snippet.
type try struct{ where, body, want string }

func (s stage) check(tries []try) {
	s.t.Helper()
	for _, c := range tries {
		var got string
		switch c.where {
		case "command":
			got = s.command(strings.ReplaceAll(c.body, "return ", "return { status = tostring(") + closed(c.body))
		case "load":
			s.host.forget()
			s.write("lua.lua", c.body)
			s.chain.Reload(context.Background(), false)
			got = strings.Join(s.host.notices(), "\n")
		default:
			got = s.lua(strings.ReplaceAll(c.body, "return ", "return { text = tostring(") + closed(c.body))
		}
		want, raised := strings.CutPrefix(c.want, "!")
		if !strings.Contains(got, want) || raised != strings.Contains(got, "lua.lua:1: ") || !raised && got != want {
			s.t.Errorf("%s: %s\ngave %q, want %q", c.where, c.body, got, c.want)
		}
	}
}

func closed(body string) string {
	if strings.Contains(body, "return ") {
		return ") }"
	}
	return ""
}

// both is a snippet's end that shows nil and a message.
const both = ` return x == nil and err or "it worked"`

func TestMembersOfCtx(t *testing.T) {
	s := newStage(t)
	s.check([]try{
		{"event", `return ctx.cwd == "` + s.cwd + `"`, "true"},
		{"event", `return ctx.mode .. ctx.thinking_level .. #ctx.session_id .. tostring(ctx.has_ui) .. tostring(ctx.session_file)`, "interactiveoff36truenil"},
		{"event", `return ctx.model.provider .. ctx.model.id .. ctx.model.context_window`, "sm1000"},
		{"event", `ctx.model.id = "x"`, "!read-only"},
		{"event", `ctx.cwd = "x"`, "!ctx is read-only"},
		{"event", `return ctx.nothing`, "!ctx has no field \"nothing\""},
		{"event", `return #ctx.entries > 1 and ctx.messages[1].content[1].text .. ctx.messages[2].content[1].text`, "firstFIRST"},

		{"event", `local u = ctx.usage(); return u.context_window .. " " .. u.tokens .. " " .. u.percent .. " " .. tostring(u.cost.total) .. u.cost.input`, "1000 15 1.5 nil0"},
		{"event", `local names = {}; for name in pairs(ctx.usage()) do names[#names + 1] = name end; return table.concat(names, " ")`, "tokens percent context_window cost"},
		{"event", `ctx.usage(1)`, "!'usage' takes at most 0 arguments"},
		{"event", `return type(ctx.system_prompt())`, "string"},

		{"event", `return ctx.find_model("s", "m").id`, "m"},
		{"event", `local x, err = ctx.find_model("s", "n")` + both, "no model s/n: s does not list it"},
		{"event", `ctx.find_model("s")`, "!string expected, got no value"},
		{"event", `return #ctx.available_models() .. ctx.available_models()[1].id`, "1m"},
		{"event", `local x, err = ctx.resolve_api_key(ctx.model)` + both, "there is no key for s/m"},
		{"event", `local x, err = ctx.resolve_api_key("q/z")` + both, "no such model: \"q/z\" (/model or `pi models` lists them)"},
		{"event", `local x, err = ctx.resolve_api_key({ provider = "q", id = "z" })` + both, "no model q/z: there is no provider \"q\""},
		{"event", `ctx.resolve_api_key(7)`, "!model expected"},
		{"event", `ctx.resolve_api_key({})`, "!model expected"},

		{"event", `local id = ctx.entries[#ctx.entries].id; local edit = ctx.edit_context(id, { content = "redacted" }); return ctx.messages[2].content[1].text .. ctx.session.entry(edit).type`, "redactedcontext_edit"},
		{"event", `local x, err = ctx.edit_context("nope")` + both, `edit context: no entry "nope"`},
		{"event", `ctx.edit_context("x", { contnt = 1 })`, `!did you mean "content"`},
		{"event", `ctx.edit_context("x", { content = 1 })`, "!content: expected a string or a list of blocks"},
		{"event", `ctx.edit_context("x", "y")`, "!table expected, got string"},

		{"event", `return tostring(ctx.is_idle()) .. tostring(ctx.has_pending_messages())`, "truefalse"},
		{"event", `pi.send("later"); return ctx.has_pending_messages()`, "true"},
		{"event", `return ctx.abort()`, "true"},
		{"event", `return ctx.compact{ on_error = function() end }`, "true"},
		{"event", `ctx.compact{ instruction = "x" }`, `!did you mean "instructions"`},
	})
	_ = slices.Collect(s.agent.Inbox().TakeSubmitted())
}

func TestMembersOfTheSession(t *testing.T) {
	s := newStage(t)
	s.check([]try{
		{"event", `return #ctx.session.entries() == #ctx.entries and #ctx.session.branch() == #ctx.entries`, "true"},
		{"event", `local id = ctx.entries[1].id; return #ctx.session.branch(id) .. tostring(ctx.session.branch(id)[1].id == id)`, "1true"},
		{"event", `local x, err = ctx.session.branch("nope");` + both, `no entry "nope"`},
		{"event", `ctx.session.branch({})`, "!string expected"},
		{"event", `return ctx.session.entry(ctx.session.leaf_id()).message.role`, "assistant"},
		{"event", `local x, err = ctx.session.entry("nope")` + both, `no entry "nope"`},
		{"event", `ctx.session.entry()`, "!string expected"},
		{"event", `local n, depth = ctx.session.tree(), 0; while n[1] do depth = depth + 1; assert(n[1].entry.id == ctx.entries[depth].id); n = n[1].children end; return depth == #ctx.entries`, "true"},
		{"event", `return pi.set_label(ctx.entries[1].id, "L") and ctx.session.label(ctx.entries[1].id) .. ctx.session.tree()[1].label`, "LL"},
		{"event", `pi.set_label(ctx.entries[1].id) return ctx.session.label(ctx.entries[1].id)`, "nil"},
		{"event", `local x, err = pi.set_label("nope", "L")` + both, `set label: no entry "nope"`},
		{"event", `pi.set_label(1)`, "!string expected"},
		{"event", `return tostring(ctx.session.file()) .. tostring(ctx.session.name()) .. tostring(ctx.session.id() == ctx.session_id)`, "nilniltrue"},
		{"event", `assert(pi.set_session_name(" a\n b ")); return ctx.session.name() .. pi.session_name()`, "a ba b"},
		{"event", `pi.set_session_name(1)`, "!string expected"},
		{"event", `local h = ctx.session.header(); return h.type .. h.version .. tostring(h.cwd == ctx.cwd) .. tostring(h.id == ctx.session_id)`, "session3truetrue"},
	})
}

func TestModelAndThinkingAreChosenInEveryHandler(t *testing.T) {
	s := newStage(t)
	for _, where := range []string{"event", "command"} {
		s.check([]try{
			{where, `return ctx.set_model("s", "m")`, "true"},
			{where, `local x, err = ctx.set_model("s", "none")` + both, "no model s/none: s does not list it"},
			{where, `return ctx.set_model("S/M:high") and ctx.thinking_level .. ctx.model.id`, "highm"},
			{where, `local x, err = ctx.set_model("s/m:loud")` + both, `no such model: s/m has no thinking level "loud"; levels are off, minimal, low, medium, high, xhigh, max`},
			{where, `local x, err = ctx.set_model("demo/tuor")` + both, "no such model: \"demo/tuor\" (/model or `pi models` lists them)"},
			{where, `ctx.set_model(7)`, "!model expected (such as ctx.model or \"provider/id\"), got number"},
			{where, `ctx.set_model({}, "m")`, "!string expected, got table"},
			{where, `return ctx.set_model(ctx.model) and ctx.set_model{ provider = "s", id = "m" } and ctx.model.id`, "m"},
			{where, `return table.concat(ctx.model.levels, " ")`, "off minimal low medium high xhigh max"},
			{where, `assert(ctx.set_thinking_level("low")) return ctx.thinking_level`, "low"},
			{where, `local x, err = ctx.set_thinking_level("lots")` + both, `unknown thinking level "lots"; levels are off, minimal, low, medium, high, xhigh, max`},
			{where, `return ctx.model.id .. #ctx.models() .. tostring(ctx.models()[1].base_url)`, "m1nil"},
		})
	}
}

func TestHooksThatAnswerAChoiceWithAnotherOneComeToAnEnd(t *testing.T) {
	s := newStage(t)
	answer := func(level, other string) string {
		return `pi.on("thinking_level_select", function(e, ctx) if e.level == "` + other + `" then ctx.set_thinking_level("` + level + `") end end)`
	}
	s.write("a.lua", answer("low", "high"))
	s.write("b.lua", answer("high", "low")+`pi.on("turn_start", function(_, ctx) ctx.set_thinking_level("high") end)`)
	s.reload()
	mustDo(t, s.agent.Prompt(context.Background(), agent.Prompt{Text: "second"}))
	s.mustSay("set_thinking_level: this is the 9th choice in a row that hooks answer with another one")
}

func TestOnlyCommandsReplaceTheSession(t *testing.T) {
	s := newStage(t)
	for _, call := range []string{`wait_for_idle()`, `new_session()`, `switch_session("x")`,
		`reload()`, `branch("x")`, `navigate_tree("x")`} {
		s.check([]try{{"event", "ctx." + call, "!only in commands and shortcuts"}})
	}
	old := s.agent.Session().ID()
	s.check([]try{
		{"command", `return ctx.wait_for_idle().cancelled`, "false"},
		{"command", `local x, err = ctx.branch("x")` + both, `branch: no entry "x"`},
		{"command", `ctx.branch()`, "!string expected"},
		{"command", `local x, err = ctx.navigate_tree("x", { summarize = true })` + both, `move to x: no entry "x"`},
		{"command", `ctx.navigate_tree("x", { summarise = true })`, `!did you mean "summarize"`},
		{"command", `local x, err = ctx.switch_session("missing")` + both, "stat " + filepath.Join(s.cwd, "missing") + ": no such file or directory"},
		{"command", `ctx.switch_session("")`, "!the path is empty"},
		{"command", `ctx.new_session{ parent = "x" }`, `!unknown option "parent"`},
		{"command", `ctx.new_session{ setup = function(sm) sm.append_message{ role = "system", content = "x" } end }`, `!role must be "user" or "assistant"`},
		{"command", `ctx.new_session{ setup = function(sm) sm.append_message{ role = "user", content = {} , x = 1 } end }`, `!unknown option "x"`},
		{"command", `return ctx.session_id == "` + old + `"`, "true"},
		{"command", `local sm2; local r = ctx.new_session{ parent_session = "/p", setup = function(sm) sm2 = sm
			sm.append_message{ role = "user", content = "question", timestamp = 5 }
			sm.append_message{ role = "assistant", content = "answer" } end }
			assert(not pcall(sm2.append_message, { role = "user", content = "late" }))
			assert(r.session_id == ctx.session_id and r.session_file == ctx.session_file)
			return tostring(r.cancelled) .. ctx.messages[1].content .. ctx.messages[1].timestamp .. ctx.messages[2].content[1].text .. ctx.messages[2].model .. ctx.session.header().parent_session`,
			"falsequestion5answerm/p"},
	})
	first := s.agent.Session().File()
	s.check([]try{
		{"command", `ctx.new_session() return #ctx.messages`, "0"},
		{"command", `return tostring(ctx.switch_session("` + first + `").cancelled) .. #ctx.messages`, "false2"},
	})
	s.write("no.lua", `pi.on("session_before_switch", function() return { cancel = true } end)`)
	s.chain.Reload(context.Background(), false)
	s.check([]try{{"command", `return tostring(ctx.new_session().cancelled) .. #ctx.messages`, "true2"}})
}

func TestReloadOutOfACommandFinishesTheOldVersion(t *testing.T) {
	s := newStage(t)
	s.write("lua.lua", `pi.command("run", { handler = function(ctx) local r = ctx.reload() return { status = "old " .. tostring(r.cancelled) } end })`)
	s.write("n.lua", `pi.on("session_start", function(e) pi.send("reloaded " .. e.reason) end)`)
	s.chain.Reload(context.Background(), false)
	_ = slices.Collect(s.agent.Inbox().TakeSubmitted())
	if got := said(s.chain.Commands()[0].Run(context.Background(), "")); got != "old false" {
		t.Errorf("the command says %q", got)
	}
	if sent := slices.Collect(s.agent.Inbox().TakeSubmitted()); len(sent) != 1 || sent[0].Text != "reloaded reload" {
		t.Errorf("sent %+v", sent)
	}
}

func TestMembersOfPi(t *testing.T) {
	s := newStage(t)
	mustDo(t, os.WriteFile(filepath.Join(s.cwd, "blob"), []byte{0, 1, 2}, 0o644))
	s.check([]try{
		{"event", `local id = pi.append_entry("t", { a = 1 }); local e = ctx.session.entry(id); return e.type .. e.custom_type .. e.data.a`, "customt1"},
		{"event", `pi.append_entry("")`, "!it is empty"},
		{"event", `pi.append_entry("t", print)`, "!a function cannot be JSON"},
		{"event", `pi.append_entry("pi.leaf")`, "!reserved for the program"},
		{"event", `pi.append_entry("pi.mode", { mode = "" })`, "!reserved for the program"},

		{"event", `assert(pi.send_message({ custom_type = "note", content = "N", display = false, details = { d = 1 } })); local m = ctx.messages[#ctx.messages]; return m.role .. m.content .. m.custom_type .. tostring(m.display) .. m.details.d`, "customNnotefalse1"},
		{"event", `pi.send_message({ content = "x" })`, `!option "custom_type" is missing`},
		{"event", `pi.send_message({ custom_type = "t", content = 7 })`, "!content: expected a string"},
		{"event", `pi.send_message({ custom_type = "t", content = "x" }, { deliver_as = "follow-up" })`, `!did you mean "follow_up"`},
		{"event", `pi.send_message({ custom_type = "t", contents = "x" })`, `!did you mean "content"`},
		{"event", `return pi.send_user_message("hello", { attachments = { { text = "T" } }, deliver_as = "steer" })`, "true"},
		{"event", `local x, err = pi.send_user_message(" ")` + both, "the prompt is empty"},
		{"event", `local x, err = pi.send_user_message("x", { attachments = { { path = "blob" } } })` + both,
			"attachment 1: " + filepath.Join(s.cwd, "blob") + ": neither an image nor text (application/octet-stream)"},
		{"event", `pi.send_user_message("x", { deliver_as = "next_turn" })`, "!deliver_as must be steer or follow_up"},
		{"event", `pi.send_user_message(7)`, "!expected a string or a list of blocks"},
		{"event", `pi.send("x", { path = "blob" })`, "!attachments are a list"},

		{"event", `return pi.tools()[1].name .. pi.tools()[1].source .. tostring(pi.tools()[1].active) .. pi.active_tools()[1] .. pi.tools()[1].parameters.type`, "bashprogramtruebashobject"},
		{"event", `local r = pi.call_tool("bash", { command = "x" }); return r.content[1].text .. tostring(r.is_error)`, `ran {"command":"x"}false`},
		{"event", `return pi.call_tool("bash", { comand = "x" }).is_error`, "true"},
		{"event", `pi.call_tool("bsh")`, `!there is no tool "bsh", did you mean "bash"?`},
		{"event", `pi.call_tool("bash", "x")`, "!input: expected a table"},
		{"event", `pi.set_active_tools({ "bsh" })`, `!there is no tool "bsh", did you mean "bash"?`},
		{"event", `pi.set_active_tools("bash")`, "!table expected"},

		{"command", `return pi.commands()[1].name .. pi.commands()[1].hook`, "runlua"},
		{"event", `pi.commands(1)`, "!takes at most 0 arguments"},
		{"event", `pi.register_message_renderer("", print)`, "!custom_type is empty"},
		{"event", `pi.register_message_renderer("x")`, "!function expected"},
		{"event", `pi.remove_provider()`, "!string expected"},
		{"event", `return pi.remove_provider("none")`, "false"},
		{"event", `pi.provider("a/b", { api = "x", base_url = "y" })`, "!one word without /"},
		{"event", `pi.provider("new", { base_url = "y" })`, "!it needs api and base_url"},
		{"event", `pi.tool{ name = "a b", description = "d", execute = print }`, "!is no name of a tool"},
		{"event", `pi.tool{ name = "a", description = "d" }`, `!option "execute" is missing`},
		{"event", `pi.on("x", print)`, "!unknown event"},
	})
}

func TestWhatNeedsASessionRaisesWhileTheHookLoads(t *testing.T) {
	s := newStage(t)
	for _, call := range []string{`pi.send("x")`, `pi.send_message({ custom_type = "t", content = "x" })`, `pi.send_user_message("x")`,
		`pi.append_entry("x")`, `pi.exec("ls")`, `pi.tools()`, `pi.active_tools()`, `pi.set_active_tools({})`, `pi.call_tool("bash")`,
		`pi.set_session_name("x")`, `pi.session_name()`, `pi.set_label("x")`, `pi.commands()`, `require("pi.llm").complete(nil, { messages = {} })`} {
		s.check([]try{{"load", call, "!not available while the hook loads; use session_start"}})
	}
}

func TestAnEventThatACommandBringsAboutIsNoCommand(t *testing.T) {
	s := newStage(t)
	s.write("gate.lua", `pi.on("tool_call", function(e, ctx) ctx.new_session() end)`)
	got := s.command(`return { status = pi.call_tool("bash", { command = "x" }).content[1].text .. tostring(ctx.wait_for_idle().cancelled) }`)
	if !strings.Contains(got, "gate.lua:1: new_session: only in commands and shortcuts") || !strings.HasSuffix(got, "false") {
		t.Errorf("the call gave %q", got)
	}
}
