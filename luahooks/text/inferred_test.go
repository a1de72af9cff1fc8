package text_test

import (
	"fmt"
	"strings"
	"testing"

	"pi/luahooks/text"
)

// written is a report in one line for each kind of finding, with lines.
func written(r *text.Report) string {
	var lines []string
	for _, of := range []struct {
		name  string
		found []text.Place
	}{{"listens", r.Listens}, {"reads", r.Reads}, {"writes", r.Writes}, {"runs", r.Runs}, {"connects", r.Connects}, {"unread", r.Unread}, {"problem", r.Problems}, {"warning", r.Warnings}} {
		for _, f := range of.found {
			lines = append(lines, fmt.Sprintf("%s %s (%d)", of.name, f.What, f.Line))
		}
	}
	return strings.Join(lines, "\n")
}

// What a hook does is found however it names pi: the global, the parameter of the function that
// it returns, a module for hooks of another program, or a variable of its own.
func TestPiIsFollowedByAnyName(t *testing.T) {
	t.Parallel()
	const body = `PI.on("tool_call", function(event) if event.toolName == "bash" then return { blck = true } end end)
PI.on("session_start", function(event, ctx) PI.exec("curl", { "https://evil.example" }) end)
`
	const want = `listens tool_call (2)
listens session_start (3)
runs curl https://evil.example (3)
problem the event tool_call has no field "toolName", did you mean "tool_name"? (2)
problem unknown key "blck" in the result of tool_call, did you mean "block"? (2)`
	c := checker(t)
	for _, hook := range []string{
		"\n" + strings.ReplaceAll(body, "PI", "pi"),
		"return function(pi)\n" + strings.ReplaceAll(body, "PI", "pi") + "end",
		"return function(api)\n" + strings.ReplaceAll(body, "PI", "api") + "end",
		"local function main(api)\n" + strings.ReplaceAll(body, "PI", "api") + "end return main",
		"local pi = require 'pi.compat.pi_v2'\n" + strings.ReplaceAll(body, "PI", "pi"),
		"local omp = require 'pi.compat.omp'\n" + strings.ReplaceAll(body, "PI", "omp"),
		"return require('pi.compat.pi_v2').hook(function(api)\n" + strings.ReplaceAll(body, "PI", "api") + "end)",
		"local v2 = require('pi.compat.pi_v2') local function main(api)\n" + strings.ReplaceAll(body, "PI", "api") + "end return v2.hook(main)",
		"local api = pi\n" + strings.ReplaceAll(body, "PI", "api"),
		"local api = _G.pi\n" + strings.ReplaceAll(body, "PI", "api"),
		"local on, run = pi.on, pi.exec\n" + strings.NewReplacer("PI.on", "on", "PI.exec", "run").Replace(body),
		"local api api = pi\n" + strings.ReplaceAll(body, "PI", "api"),
		"local function setup(api)\n" + strings.ReplaceAll(body, "PI", "api") + "end setup(pi)",
		"local M = {} function M.setup(api)\n" + strings.ReplaceAll(body, "PI", "api") + "end M.setup(pi)",
		"local setup = function(pi)\n" + strings.ReplaceAll(body, "PI", "pi") + "end setup(pi)",
	} {
		r, err := c.File("a.lua", []byte(hook), nothingBeside)
		if err != nil {
			t.Fatalf("%s: %v", hook, err)
		}
		if got := written(r); got != want {
			t.Errorf("%s\ngives\n%s\nwant\n%s", hook, got, want)
		}
	}
}

func TestWhatCannotBeFollowedIsSaid(t *testing.T) {
	t.Parallel()
	const handedOn = " is handed on, so not all calls of it are followed (1)"
	c := checker(t)
	for hook, want := range map[string]string{
		`local t = { api = pi }`:                                                                            "unread pi" + handedOn,
		`local t = {} t.api = pi`:                                                                           "unread pi" + handedOn,
		`local t = setmetatable({}, pi)`:                                                                    "unread pi" + handedOn,
		`local fs = require "pi.fs" local t = { fs.read }`:                                                  "unread fs.read" + handedOn,
		`local f = ({})[1] f(pi.exec)`:                                                                      "unread pi.exec" + handedOn,
		`local v = require "pi.compat.marvin" local t = { v }`:                                              "unread v" + handedOn,
		`local r = require`:                                                                                 "unread require is handed on, so what it loads is not known (1)",
		`local x = _G["p" .. "i"]`:                                                                          "unread a function of _G whose name is computed (1)",
		`local v, name = require "pi.compat.omp", "ex" .. "ec" local x = v[name]`:                           "unread a function of compat.omp whose name is computed (1)",
		`for _, e in ipairs { "input" } do pi.on(e .. "", print) end`:                                       "listens (computed) (1)",
		`pi.on("input", function(e, ctx) pcall(pi.exec, "rm", { "x" }) end)`:                                "listens input (1)\nruns rm x (1)",
		`pi.on("input", function(e, ctx) local get = os.getenv get("HOME") end)`:                            "listens input (1)\nreads $HOME (1)",
		`local kept pi.on("input", function() kept.exec("rm", {}) end) return function(api) kept = api end`: "listens input (1)\nruns rm (1)",
		`return function(pi) pi.exec("rm", {}) end`:                                                         "runs rm (1)\nproblem exec: not available while the hook loads; use session_start (1)",
		`local t = { type(pi), tostring(pi) }`:                                                              "",
	} {
		r, err := c.File("a.lua", []byte(hook), nothingBeside)
		if err != nil {
			t.Fatalf("%s: %v", hook, err)
		}
		if got := written(r); got != want {
			t.Errorf("%s\ngives\n%s\nwant\n%s", hook, got, want)
		}
	}
}

// Events, fields and names are those of the module that a hook is written for.
func TestPortedHooksAreReadByTheirModule(t *testing.T) {
	t.Parallel()
	c := checker(t)
	for hook, want := range map[string]string{
		`local m = require "pi.compat.marvin" m.on("tool.execute.before", function(event, ctx) ctx.ui.notfy(event.command) end)`: `listens tool.execute.before (1)
problem ctx.ui has no field "notfy", did you mean "notify"? (1)
problem the event tool.execute.before has no field "command"; it is event.input.command (1)`,
		`local pi = require "pi.compat.pi_v2" pi.on("session_fork", function() end)`: "problem on: pi.compat.pi_v2 has no event session_fork; use session_branch (1)",
		`local pi = require "pi.compat.pi_v2" pi.on("tol_call", function() end)`:     `problem on: unknown event "tol_call", did you mean "tool_call"? (1)`,
		`local pi = require "pi.compat.pi_v2" pi.register_command("x", { handler = function(args, ctx) ctx.session_manager.get_entries() ctx.exec("ls", {}) pi.ai.complete() end })`: `runs ls (1)
connects a model (1)`,
		`local pi = require "pi.compat.pi_v2" pi.on("tool_call", function() local ok = pcall(error) end)`: "listens tool_call (1)\nwarning this gate is open when pcall catches an error: block where it is false, or leave pcall out (1)",
		`local pi = require "pi.compat.pi_v3"`: `problem module pi.compat.pi_v3 does not exist, did you mean "pi.compat.pi_v2"? (1)`,
	} {
		r, err := c.File("a.lua", []byte(hook), nothingBeside)
		if err != nil {
			t.Fatalf("%s: %v", hook, err)
		}
		if got := written(r); got != want {
			t.Errorf("%s\ngives\n%s\nwant\n%s", hook, got, want)
		}
	}
}

// A login connects to the servers of its options, and what its functions do with the user is followed.
func TestLoginsAreFound(t *testing.T) {
	t.Parallel()
	const code = `local function start(ui)
  ui.open("https://page.example/in") ui.opn("x")
  return ui.oauth { kind = "pkce", authorize_url = "https://a.example/x", token_url = "https://t.example/x", client_id = "c", redirct = "x" }
end
pi.provider("x", { login = { kind = "devise", device_url = "https://d.example/x", token_url = "https://t.example/x", client_i = "c" } })
pi.provider("y", { login = { start = start, refresh = function(c) return require("pi.http").get("https://r.example/x") end } })
`
	const want = `connects https://page.example (2)
connects https://a.example (3)
connects https://t.example (3)
connects https://d.example (5)
connects https://t.example (5)
connects https://r.example (6)
problem pi.LoginUI has no field "opn", did you mean "open"? (2)
problem ui.oauth: unknown option "redirct", did you mean "redirect"? (3)
problem provider: login: kind must be pkce or device or key, not "devise", did you mean "device"? (5)
problem provider: login: unknown option "client_i", did you mean "client_id"? (5)`
	r, err := checker(t).File("a.lua", []byte(code), nothingBeside)
	if err != nil {
		t.Fatal(err)
	}
	if got := written(r); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// What agents a hook uses, and what is wrong with what it asks of them, is found without running it.
func TestAgentsThatAHookUsesAreFound(t *testing.T) {
	t.Parallel()
	const code = `local agent = require "pi.agent"
agent.run { prompt = "x" }
pi.command("c", { handler = function()
  local r = assert(agent.run { prompt = "x", agent = "reviewer", modle = "m" })
  local h = assert(agent.start { agent = tostring(r) })
  h.stear("left")
  return { status = r.txt .. h.wait { timeot = 5 }.text }
end })
`
	const want = `runs an agent (2)
runs an agent reviewer (4)
runs an agent (computed) (5)
problem agent.run: not available while the hook loads; use session_start (2)
problem agent.run: unknown option "modle", did you mean "model"? (4)
problem agent.start: option "prompt" is missing (5)
problem the agent has no field "stear", did you mean "steer"? (6)
problem what came of the agent has no field "txt", did you mean "text"? (7)
problem h.wait: unknown option "timeot", did you mean "timeout"? (7)`
	r, err := checker(t).File("a.lua", []byte(code), nothingBeside)
	if err != nil {
		t.Fatal(err)
	}
	if got := written(r); got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
}
