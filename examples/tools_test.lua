local t = require "pi.test"

local function names(request)
  table.sort(request.tools)
  return table.concat(request.tools, " ")
end

t.case("the model has the tools that were marked, also when the session is resumed", function(t)
  t.hook("tools.lua")
  t.model { "one", "two" }
  t.answers(function(kind, title)
    t.equal(kind, "select")
    t.match(title, "Which tools")
    return { "read", "grep" }
  end)
  t.match(t.command("/toolset"), "the model has read grep")
  t.prompt("first")
  t.reopen()
  t.prompt("second")
  t.equal(names(t.requests()[1]), "grep read")
  t.equal(names(t.requests()[2]), "grep read")
end)

t.case("names that no tool has are left out", function(t)
  t.hook("tools.lua")
  t.model { "one" }
  t.match(t.command("/toolset ls teleport"), "the model has ls")
  t.prompt("first")
  t.equal(names(t.requests()[1]), "ls")
end)

t.case("each branch has its own choice", function(t)
  t.hook("tools.lua")
  t.model { "one", "two", "three" }
  t.prompt("first")
  local before = names(t.requests()[1])
  t.command("/toolset read")
  t.prompt("second")
  t.command("/undo 2")
  t.prompt("third")
  t.equal(names(t.requests()[2]), "read")
  t.equal(names(t.requests()[3]), before)
end)
