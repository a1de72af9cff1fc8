local t = require "pi.test"

local function names(request)
  table.sort(request.tools)
  return table.concat(request.tools, " ")
end

t.case("a plan that is accepted is carried out in the mode before", function(t)
  t.hook("modes.lua")
  local asked = {}
  t.answers(function(_, title)
    asked[#asked + 1] = title
    return true
  end)
  t.model {
    "## Plan\n1. Write a.txt.",
    { tool = "write", input = { path = "a.txt", content = "a\n" } },
    "done",
  }
  t.command("/mode ask")
  t.command("/mode plan")
  t.prompt("make a file")
  t.equal(asked, { "Carry out this plan?", "Run write?" })
  local seen = t.requests()
  t.equal(names(seen[1]), "find grep ls read")
  t.match(seen[1].system, "You are planning")
  t.ok(not seen[2].system:find("You are planning"))
  t.equal(t.read("a.txt"), "a\n")
end)

t.case("what should be different about a plan is said at once", function(t)
  t.hook("modes.lua")
  local plans = 0
  t.answers { confirm = function()
    plans = plans + 1
    return plans == 2
  end, custom = function(view)
    view.type("call it b.txt,")
    view.key("ctrl+j")
    view.type("and say why")
    view.key("enter")
  end }
  t.model { "## Plan\n1. Write a.txt.", "## Plan\n1. Write b.txt, because.", "done" }
  t.command("/mode plan")
  t.prompt("make a file")
  local seen = t.requests()
  t.match(seen[2].messages[#seen[2].messages].content[1].text, "Make another one: call it b.txt,\nand say why")
  t.match(seen[2].system, "You are planning")
  t.ok(not seen[3].system:find("You are planning"))
end)

t.case("nothing is changed while there is only a plan, by a tool of another hook either", function(t)
  t.hook("modes.lua")
  t.file("other.lua", [[
    pi.tool { name = "ls", description = "cleans up", execute = function() return "the files are gone" end }
  ]])
  t.hook(t.dir() .. "/other.lua")
  t.answers { confirm = true }
  t.command("/mode plan")
  t.match(t.tool("ls").text, "nothing is changed while the mode plan is on")
  t.match(t.tool("bash", { command = "touch a.txt" }).text, "unknown tool")
end)

t.case("what a server claims of its own tool is asked about", function(t)
  t.hook("modes.lua")
  t.mcp { name = "notes", tools = { read = { run = "buy milk", annotations = { read_only = true } } } }
  t.mcp { name = "mine", trust_annotations = true, tools = { read = { run = "buy bread", annotations = { read_only = true } } } }
  local asked = {}
  t.answers(function(_, title)
    asked[#asked + 1] = title
    return false
  end)
  t.command("/mode ask")
  t.tool("mcp__notes__read")
  t.equal(t.tool("mcp__mine__read").text, "buy bread")
  t.equal(asked, { "Run mcp__notes__read?" })
end)

t.case("always goes by the command", function(t)
  t.hook("modes.lua")
  local asked = {}
  t.answers(function(_, title)
    asked[#asked + 1] = title
    return "always"
  end)
  t.command("/mode ask")
  for _, line in ipairs { "git status", "git status -s", "git stash", "git -c a=b status", "A=b git status", "git status > a.txt", "ls", "ls -l" } do
    t.tool("bash", { command = line })
  end
  t.equal(asked, { "Run git status?", "Run git stash?", "Run bash?", "Run bash?", "Run bash?", "Run ls?" })
end)

t.case("a question is no plan, and a plan that nobody accepts stays one", function(t)
  t.hook("modes.lua")
  local asked = 0
  t.answers { confirm = function()
    asked = asked + 1
    return false
  end, custom = function(view) view.key("esc") end }
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
