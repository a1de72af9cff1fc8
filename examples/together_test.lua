-- Tests of examples beside one another: pi test examples/together_test.lua

local fs = require "pi.fs"
local t = require "pi.test"

local function call(t, input) return t.tool("process", input).text end

t.case("permission_gate.lua and processes.lua: the gate sees what is started", function(t)
  t.hook("permission_gate.lua")
  t.hook("processes.lua")
  t.match(call(t, { action = "start", command = "rm notes.txt" }), "needs a user")
  t.equal(call(t, { action = "list" }), "nothing was started")
end)

t.case("permission_gate.lua and processes.lua: the line is read by the shell that the gates read it for", function(t)
  t.hook("permission_gate.lua")
  t.hook("processes.lua")
  t.file("notes.txt", "keep me")
  -- To bash these are words of echo; another shell runs rm.
  call(t, { action = "start", command = "echo a &>/dev/null rm notes.txt" })
  call(t, { action = "wait", id = "1" })
  t.equal(t.read("notes.txt"), "keep me")
end)

t.case("protected_paths.lua and processes.lua: protected files are asked about", function(t)
  t.hook("protected_paths.lua")
  t.hook("processes.lua")
  t.match(call(t, { action = "start", command = "cat .env" }), ".env is protected")
  t.equal(call(t, { action = "list" }), "nothing was started")
end)

t.case("modes.lua and processes.lua: an always is about the command, not about the tool", function(t)
  local asked = {}
  t.hook("modes.lua")
  t.hook("processes.lua")
  t.answers(function(_, title)
    asked[#asked + 1] = title
    return true
  end)
  t.command("/mode ask")
  call(t, { action = "start", command = "npm test" })
  call(t, { action = "start", command = "rm -rf x" })
  t.equal(asked, { "Run npm test?", "Run rm?" })
end)

t.case("command_hooks.lua and processes.lua: a command in the background is Bash to a hook", function(t)
  t.hook("command_hooks.lua")
  t.file(".claude/settings.json", [[{ "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "type": "command",
    "command": "grep -q '\"tool_name\":\"Bash\".*rm notes' && { echo keep them >&2; exit 2; }; exit 0" } ] } ] } }]])
  t.answers { confirm = true }
  t.hook("processes.lua")
  t.model { { tool = "process", input = { action = "start", command = "rm notes" } }, "done" }
  t.prompt("go")
  t.blocked("process", "keep them")
  t.equal(call(t, { action = "list" }), "nothing was started")
end)

t.case("sandbox.lua and processes.lua: what goes on in the background has to be in the sandbox, or does not run", function(t)
  t.hook("sandbox.lua")
  for name, text in pairs { -- a machine on which a sandbox can be made
    bwrap = [[for last; do :; done
case $last in *CapEff*) printf '%s\n' 0 'user:[2]' 0000000000000000; exit ;; esac
exec sh -c "$last"
]], flock = "exit 0" } do
    t.file("bin/" .. name, "#!/bin/sh\n" .. text)
    assert(fs.chmod(t.dir() .. "/bin/" .. name, "755"))
  end
  t.env { PATH = t.dir() .. "/bin:/usr/bin:/bin" }
  t.hook("processes.lua")
  t.match(call(t, { action = "start", command = ": >made" }), "run outside of the sandbox: take bash")
  t.equal(t.read("made"), nil)
end)

t.case("footer.lua and preset.lua: what other hooks say stands behind it, by their keys", function(t)
  t.hook("footer.lua")
  t.hook("preset.lua")
  t.answers {}
  t.shell("git init -q -b master")
  t.file("~/.pi/agent/presets.json", '{ "look": { "tools": ["read"] } }')
  t.model { { text = "done", input_tokens = 67900, output_tokens = 100 } }
  t.prompt("go")
  t.command("/preset look")
  t.equal(t.footer(), { "model:medium · 68k of 200k · $0.068 · master · preset look" })
end)
