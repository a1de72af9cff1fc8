-- Tests of ssh.lua: pi test examples/ssh_test.lua

local t = require "pi.test"

-- A program of the name ssh that runs what it is given in the folder "far".
local function machine(t, target)
  local fs = require "pi.fs"
  t.hook("ssh.lua")
  t.file("far/srv/here.txt", "over there\n")
  t.file("bin/ssh", [[#!/bin/sh
while [ "$1" != -- ]; do shift; done
echo "$2" >>"]] .. t.dir() .. [[/hosts"
cd "]] .. t.dir() .. [[/far" && exec sh -c "$3"
]])
  assert(fs.chmod(t.dir() .. "/bin/ssh", "755"))
  t.env { PATH = t.dir() .. "/bin:/usr/bin:/bin" }
  if target then t.flags { ssh = target } end
end

t.case("the commands of the model run there, as they were seen", function(t)
  machine(t, "me@build.example:srv")
  t.model { { tool = "bash", input = { command = [[cat here.txt; echo "a  b" '$HOME']] } }, "done" }
  t.prompt("look")
  t.equal(t.calls("bash")[1].text, "over there\na  b $HOME\n")
  t.equal(t.read("hosts"), "me@build.example\n")
  t.match(t.requests()[1].system, "Commands run on the machine me@build%.example, in srv")
  t.equal(t.status().ssh, "ssh me@build.example:srv")
end)

t.case("so do those of the user", function(t)
  machine(t, "build.example")
  t.equal(t.shell("ls").output, "srv\n")
end)

t.case("without a directory nothing is run that is not there", function(t)
  machine(t, "build.example:missing")
  t.match(t.tool("bash", { command = "touch made" }).text, "exit code")
  t.equal(t.read("made"), nil)
  t.equal(t.read("far/made"), nil)
end)

t.case("the model has bash alone", function(t)
  machine(t, "build.example")
  t.model { { tool = "read", input = { path = "far/srv/here.txt" } }, "done" }
  t.prompt("read it")
  t.match(t.calls("read")[1].text, "unknown tool")
end)

t.case("what is no host runs nowhere", function(t)
  machine(t, "-oProxyCommand=touch made")
  t.match(t.tool("bash", { command = "touch made" }).text, "is no HOST or HOST:DIRECTORY")
  t.equal(t.read("made"), nil)
  t.equal(t.read("hosts"), nil)
end)

t.case("without the flag commands run here", function(t)
  machine(t)
  t.tool("bash", { command = "touch made" })
  t.equal(t.read("made"), "")
end)
