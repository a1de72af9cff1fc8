-- Tests of NAME.lua. The model is a script here, and so is the person; each case has a folder of
-- its own.

local t = require "pi.test"

local function removal(t)
  t.hook("NAME.lua")
  t.file("notes.txt", "keep me")
  t.model { { tool = "bash", input = { command = "ls | xargs rm" } }, "done" }
end

t.case("without a person it does not run", function(t)
  removal(t)
  t.prompt("clean up")
  t.blocked("bash", "it removes files")
  t.equal(t.read("notes.txt"), "keep me")
end)

t.case("the person says no", function(t)
  removal(t)
  t.answers { confirm = false }
  t.prompt("clean up")
  t.blocked("bash", "did not allow")
end)

t.case("the person says yes", function(t)
  removal(t)
  t.answers { confirm = true }
  t.prompt("clean up")
  t.ran("bash")
  t.equal(t.read("notes.txt"), nil)
end)

t.case("everything else runs unasked", function(t)
  t.hook("NAME.lua")
  t.model { { tool = "bash", input = { command = "echo rm" } }, "done" }
  t.prompt("look around")
  t.ran("bash")
end)
