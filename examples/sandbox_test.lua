-- Tests of sandbox.lua: pi test examples/sandbox_test.lua

local t = require "pi.test"

-- A program of the name bwrap that notes its arguments and runs the command.
local function machine(t, status)
  local fs = require "pi.fs"
  t.hook("sandbox.lua")
  t.file("bin/bwrap", [[#!/bin/sh
printf '%s\n' "$@" >"]] .. t.dir() .. [[/arguments"
for last; do :; done
[ ]] .. (status or 0) .. [[ = 0 ] || { echo "no namespaces" >&2; exit 1; }
exec sh -c "$last"
]])
  assert(fs.chmod(t.dir() .. "/bin/bwrap", "755"))
  t.env { PATH = t.dir() .. "/bin:/usr/bin:/bin" }
end

t.case("commands of the model run in the sandbox, as they were seen", function(t)
  machine(t)
  t.model { { tool = "bash", input = { command = [[echo "a  b" >made; cat made]] } }, "done" }
  t.prompt("do it")
  t.equal(t.calls("bash")[1].text, "a  b\n")
  local arguments, project = t.read("arguments"), t.dir()
  t.ok(arguments:find("--ro-bind\n/\n/\n", 1, true), arguments)
  t.ok(arguments:find("--bind\n" .. project .. "\n" .. project .. "\n", 1, true), arguments)
  t.ok(arguments:find("--ro-bind-try\n" .. project .. "/.git/hooks\n", 1, true), arguments)
  t.ok(arguments:find("--unshare-net\n", 1, true), arguments)
  t.ok(arguments:find("--new-session\n", 1, true), arguments)
  t.ok(arguments:find('bash\n-c\necho "a  b" >made; cat made\n', 1, true), arguments)
end)

t.case("the network is there if the person wants it", function(t)
  machine(t)
  t.flags { ["sandbox-network"] = true }
  t.tool("bash", { command = "true" })
  t.equal(t.read("arguments"):find("--unshare-net", 1, true), nil)
end)

t.case("commands of the person run as always", function(t)
  machine(t)
  t.shell("touch made")
  t.equal(t.read("made"), "")
  t.equal(t.read("arguments"), nil)
end)

t.case("without a sandbox nothing runs", function(t)
  t.hook("sandbox.lua")
  t.env { PATH = t.dir() .. "/nothing" }
  t.match(t.tool("bash", { command = ": >made" }).text, "hook sandbox%.lua failed: .*there is no sandbox: install bubblewrap %(bwrap%)")
  t.equal(t.read("made"), nil)
end)

t.case("nor in one that does not work", function(t)
  machine(t, 1)
  t.match(t.tool("bash", { command = ": >made" }).text, "the sandbox does not work: no namespaces")
  t.equal(t.read("made"), nil)
end)
