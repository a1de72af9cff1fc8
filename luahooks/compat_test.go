package luahooks

import (
	"strings"
	"testing"

	"pi/agent"
)

// Hooks that were written for another program. What one module says is in a test of its
// own; here is what all have in common.

const ported = "local pi = require \"pi.compat.pi_v2\"\n"

func TestMistakesInAPortedFileAreAtItsLine(t *testing.T) {
	for code, want := range map[string]string{
		`pi.on("sesion_start", function() end)`:                             `on: unknown event "sesion_start", did you mean "session_start"?`,
		`pi.on("nothing_like_it", function() end)`:                          `on: unknown event "nothing_like_it"; one that hooks emit has a colon`,
		`pi.on("session", function() end)`:                                  "on: pi.compat.pi_v2 has no event session; use session_start, session_switch, session_new",
		`pi.on("context", 5)`:                                               "bad argument #2 to 'on' (function expected, got number)",
		`pi.on(nil, function() end)`:                                        "bad argument #1 to 'on' (string expected, got nil)",
		`pi:on("context", function() end)`:                                  "call it with a dot: .on(…)",
		`pi.register_comand("x", {})`:                                       `pi.compat.pi_v2 has no field "register_comand", did you mean "register_command"?`,
		`pi.register_command("x", { descripton = "d", handler = print })`:   `command: unknown option "descripton", did you mean "description"?`,
		`pi.register_command("x", { description = "d" })`:                   `command: option "handler" is missing`,
		`pi.register_command("x")`:                                          `command: option "handler" is missing`,
		`pi.register_tool{ name = "x", execute = print }`:                   `tool: option "description" is missing`,
		`pi.register_flag("--x1", { typ = "string" })`:                      `flag: unknown option "typ", did you mean "type"?`,
		`pi.register_shortcut("alt+x", { handlr = print })`:                 `shortcut: unknown option "handlr", did you mean "handler"?`,
		`pi.register_message_renderer("x", 5)`:                              "function expected, got number",
		`pi.exec("ls")`:                                                     "exec: not available while the hook loads; use session_start",
		`pi.get_thinking_level()`:                                           "not available before a handler or command has run; use session_start",
		`local _ = pi.tui.Box`:                                              "tui has no Box; return lines from render",
		`local _ = pi.tui.visible_width`:                                    "tui has no visible_width; use require \"pi.text\"",
		`local _ = pi.tui.SettingsList`:                                     "tui has no SettingsList; return lines from render",
		`local _ = pi.tui.SelectList`:                                       "tui has no SelectList; use ctx.ui.list",
		`local _ = pi.tui.Editor`:                                           "tui has no Editor; use ctx.ui.field",
		`local _ = pi.ai.getModel`:                                          "ai has no getModel; use ctx.model_registry.find(provider, id)",
		`local _ = pi.ai.get_model`:                                         "ai has no get_model; use ctx.model_registry.find(provider, id)",
		`local _ = pi.ai.stream_simple`:                                     `ai has no stream_simple; use require "pi.llm"`,
		`local _ = pi.ai.complet`:                                           `ai has no field "complet", did you mean "complete"?`,
		`local f = pi.hook(3)`:                                              "hook: expected a function",
		`return pi.hook(3)`:                                                 "hook: expected a function",
		`require "pi.compat.pi_v3"`:                                         "module pi.compat.pi_v3 does not exist; there are pi.compat.marvin, pi.compat.omp, pi.compat.pi_v2",
		`return pi.hook(function(pi) pi.on("contxt", function() end) end)`:  `on: unknown event "contxt", did you mean "context"?`,
		`require("pi.compat.pi_v2").hook(function(pi) error("mine") end)()`: "mine",
		`coroutine.wrap(function() pi.on("contxt", function() end) end)()`:  `on: unknown event "contxt", did you mean "context"?`,
	} {
		r := newRig(t, map[string]string{"a.lua": ported + code})
		if err := r.info("a").LastError; !strings.Contains(err, "a.lua:2: ") || !strings.Contains(err, want) {
			t.Errorf("%s\nsays %q, want %q", code, err, want)
		}
	}
}

func TestAPortedGateThatAnswersWronglyBlocksAtItsLine(t *testing.T) {
	for code, want := range map[string]string{
		"return { blok = true }":        `a.lua:3: unknown key "blok" in the result of tool_call, did you mean "block"?`,
		"return true":                   "a.lua:3: a handler of tool_call returns nil or a table, not a boolean",
		"\n error('oh')":                "a.lua:4: oh",
		"return event.toolName":         `a.lua:3: the event tool_call has no field "toolName", did you mean "tool_name"?`,
		"return ctx.sesion_manager":     `a.lua:3: ctx has no field "sesion_manager", did you mean "session_manager"?`,
		"return ctx.ui.set_theme":       "a.lua:3: ctx.ui has no set_theme; the colours are the user's, and theme.fg paints with them",
		"ctx.cwd = 1":                   "a.lua:3: ctx is read-only; keep your own values in a local or in pi.state",
		"ctx.session_manager.branch(1)": "a.lua:3: the session is read-only here; use pi.send_message or pi.append_entry",
		"ctx.ui.select('x', { {} })":    "a.lua:3: select: option 1 is no string but a table",
		"ctx.save_entry{ a = 1 }":       "a.lua:3: save_entry: entry must have a type",
		"ctx.new_session()":             "a.lua:3: new_session: only in commands and shortcuts",
		"return { block = 1 }":          "a.lua:3: block: expected a boolean, got number",
	} {
		r := newRig(t, map[string]string{"a.lua": ported + "local function other() end\npi.on('tool_call', function(event, ctx) " + code + "\nend)"})
		if e := r.bash("ls"); !e.Block || !strings.Contains(e.Reason, want) || strings.Contains(e.Reason, "pi.compat/") {
			t.Errorf("%s\nblock %v, %q, want %q", code, e.Block, e.Reason, want)
		}
	}
}

func TestWhatAPortedHookIgnoresIsIgnored(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		for _, event in ipairs { "turn_end", "session_switch", "agent_end" } do pi.on(event, function() return true end) end
		pi.on("context", function() return "nothing" end)
		pi.on("tool_result", function() return 5 end)`})
	r.emitAll(&agent.TurnEnd{}, &agent.SessionSwitch{Reason: "resume"}, &agent.AgentEnd{}, &agent.Context{}, &agent.ToolResult{Name: "ls", Input: []byte("{}")})
	r.mustBeQuiet()
}

// Handlers that stand around others are told apart by those.
func TestPortedHandlersAreTakenOffAndCountedOneByOne(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		local off = pi.on("input", function() error("first") end)
		pi.on("input", function(event) error("second") end)
		pi.on("input", function(event) if event.text == "off" then assert(off() == true) end end)`})
	r.input("x")
	r.input("off")
	r.input("x")
	said := strings.Join(r.host.notices(), "\n")
	if strings.Count(said, "a.lua:3: first") != 1 || strings.Count(said, "a.lua:4: second") != 1 {
		t.Errorf("said %s", said)
	}
	if n := r.info("a").Errors; n != 5 {
		t.Errorf("%d errors", n)
	}
}

func TestAPortedFileHasOurNamesToo(t *testing.T) {
	r := newRig(t, map[string]string{"a.lua": ported + `
		local native = _G.pi
		assert(pi.version == native.version and pi.state == native.state and pi.hook.name == "a" and pi.log == native.log)
		pi.state = { n = 1 }
		assert(native.state.n == 1 and rawget(pi, "state") == nil)
		pi.mine = 2
		assert(pi.mine == 2 and require "pi.compat.pi_v2" == pi)
		native.on("input", function(event, ctx)
			assert(event.type == "input" and not pcall(function() return ctx.session_manager end))
			print("native")
		end)
		local seen
		pi.on("input", function(event, ctx)
			seen = seen or ctx
			assert(seen == ctx and ctx.session_manager == ctx.session_manager and ctx.ui.theme ~= nil)
			print("ported")
		end)`})
	r.input("x")
	r.input("x")
	if said, want := strings.Join(r.host.notices(), "\n"), strings.Repeat("\ninfo: a: native\ninfo: a: ported", 2)[1:]; said != want {
		t.Errorf("said %s", said)
	}
}

func TestANameOfAnotherProgramSaysWhichModuleHasIt(t *testing.T) {
	for code, want := range map[string]string{
		`pi.register_command("x", {})`:                               `pi has no field "register_command", did you mean "command"? (pi.compat.marvin, pi.compat.omp and pi.compat.pi_v2 have it)`,
		`pi.registerCommand("x", {})`:                                `pi has no field "registerCommand", did you mean "command"? (pi.compat.marvin, pi.compat.omp and pi.compat.pi_v2 have it as register_command)`,
		`pi.logger.info("x")`:                                        `pi has no field "logger" (pi.compat.omp has it)`,
		`pi.on("tool.execute.before", print)`:                        `on: unknown event "tool.execute.before", did you mean "tool_call"? (pi.compat.marvin has it)`,
		`pi.on("input", function(e, ctx) ctx.session_manager() end)`: "",
		`pi.is_bash_tool_result({})`:                                 "(pi.compat.pi_v2 has it)",
		`pi.sendUserMessage()`:                                       `did you mean "send_user_message"? (pi.compat.marvin, pi.compat.omp and pi.compat.pi_v2 have it)`,
		`pi.isBashToolResult({})`:                                    "(pi.compat.pi_v2 has it as is_bash_tool_result)",
		`require "marvin"`:                                           `, did you mean "pi.compat.marvin"?`,
		`require "omp"`:                                              `, did you mean "pi.compat.omp"?`,
		`require "pi_v2"`:                                            `, did you mean "pi.compat.pi_v2"?`,
		`require "pi.omp"`:                                           `module pi.omp does not exist, did you mean "pi.compat.omp"?`,
		`require "pi"`:                                               "module pi does not exist; pi is a global and is not required; `pi docs porting` says how hooks of other programs get theirs",
		`require "@mariozechner/pi-coding-agent"`:                    "joined by dots; pi is a global and is not required; `pi docs porting` says how hooks of other programs get theirs",
		`require "@sinclair/typebox"`:                                `joined by dots, did you mean "pi.schema"?`,
		`require "node:fs"`:                                          `joined by dots, did you mean "pi.fs"?`,
		`require "zebra"`:                                            "lib/zebra.lua)",
		`pi.nothing_like_it()`:                                       `pi has no field "nothing_like_it"`,
	} {
		r := newRig(t, map[string]string{"a.lua": code})
		if err := r.info("a").LastError; !strings.HasSuffix(err, want) {
			t.Errorf("%s\nsays %q, want %q", code, err, want)
		}
	}
	r := newRig(t, map[string]string{"a.lua": `pi.on("tool_call", function(e, ctx) ctx.session_manager() end)`})
	if e := r.bash("ls"); !strings.Contains(e.Reason, "pi.compat.pi_v2") {
		t.Errorf("says %q", e.Reason)
	}
}
