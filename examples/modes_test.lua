local t = require "pi.test"

local function names(request)
  table.sort(request.tools)
  return table.concat(request.tools, " ")
end

t.case("a plan that is accepted is carried out in the mode before", function(t)
  t.hook("modes.lua")
  t.answers { confirm = true }
  t.model {
    "## Plan\n1. Write a.txt.",
    { tool = "write", input = { path = "a.txt", content = "a\n" } },
    "done",
  }
  t.command("/mode plan")
  t.prompt("make a file")
  local seen = t.requests()
  t.equal(names(seen[1]), "find grep ls read")
  t.match(seen[1].system, "You are planning")
  t.ok(not seen[2].system:find("You are planning"))
  t.equal(t.read("a.txt"), "a\n")
end)

t.case("a question is no plan, and a plan that nobody accepts stays one", function(t)
  t.hook("modes.lua")
  local asked = 0
  t.answers(function()
    asked = asked + 1
    return false
  end)
  t.model { "Which file?", "## Plan\n1. Write a.txt.", "## Plan\n1. Write b.txt." }
  t.command("/mode plan")
  t.prompt("make a file")
  t.equal(asked, 0)
  t.prompt("a.txt")
  t.equal(asked, 1)
  t.prompt("rather b.txt")
  t.equal(names(t.requests()[3]), "find grep ls read")
end)

t.case("ask asks about what changes something, and about nothing else", function(t)
  t.hook("modes.lua")
  t.file("a.txt", "a\n")
  local asked = {}
  t.answers(function(_, title)
    asked[#asked + 1] = title
    return false
  end)
  t.model {
    { tool = "read", input = { path = "a.txt" } },
    { tool = "bash", input = { command = "git push -f && rm a.txt" } },
    { tool = "bash", input = { command = "$(cat a.txt)" } },
    { tool = "write", input = { path = "a.txt", content = "b\n" } },
    "well",
  }
  t.command("/mode ask")
  t.prompt("tidy up")
  t.ran("read")
  t.blocked("write", "did not want")
  t.equal(t.read("a.txt"), "a\n")
  t.equal(asked, { "Run git push, rm?", "Run bash?", "Run write?" })
end)

t.case("auto asks nothing", function(t)
  t.hook("modes.lua")
  t.answers(function() t.fail("somebody is asked") end)
  t.model { { tool = "bash", input = { command = "echo x > a.txt" } }, "done" }
  t.command("/mode auto")
  t.prompt("make a file")
  t.equal(t.read("a.txt"), "x\n")
  t.match(t.requests()[1].system, "You work on your own")
end)
