-- Tests of permission_gate.lua: pi test examples/permission_gate_test.lua

local t = require "pi.test"

local function removal(t)
  t.hook("permission_gate.lua")
  t.file("notes.txt", "keep me")
  t.model { { tool = "bash", input = { command = "rm notes.txt" } }, "done" }
end

t.case("a removal is blocked where nobody can be asked", function(t)
  removal(t)
  t.equal(t.prompt("clean up"), "done")
  t.blocked("bash", "needs a user")
  t.equal(t.read("notes.txt"), "keep me")
end)

t.case("the user says yes", function(t)
  removal(t)
  t.answers { confirm = true }
  t.prompt("clean up")
  t.ran("bash")
  t.equal(t.read("notes.txt"), nil)
  t.shown("rm notes.txt")
end)

t.case("the user says no", function(t)
  removal(t)
  t.answers { confirm = false }
  t.prompt("clean up")
  t.blocked("bash", "did not allow")
  t.equal(t.read("notes.txt"), "keep me")
end)

t.case("what only looks runs unasked, also in a pipe", function(t)
  t.hook("permission_gate.lua")
  t.file("notes.txt", "one\ntwo\n")
  t.model { { tool = "bash", input = { command = "cat notes.txt | grep -c o" } }, "done" }
  t.prompt("count")
  t.ran("bash")
end)

t.case("a removal hidden in a pipe is seen", function(t)
  t.hook("permission_gate.lua")
  t.model { { calls = {
    { tool = "bash", input = { command = "ls | xargs rm" } },
    { tool = "bash", input = { command = "echo $(rm notes.txt)" } },
  } }, "done" }
  t.prompt("clean up")
  for _, call in ipairs(t.calls("bash")) do t.equal(call.ran, false) end
end)

t.case("the question says why a line cannot be known", function(t)
  t.hook("permission_gate.lua")
  local asked
  t.answers(function(_, title)
    asked = title
    return false
  end)
  t.tool("bash", { command = "echo $((x)) && cat a" })
  t.match(asked, "cannot be known before it runs: %$%(%(x%)%): .")
end)
