-- Tests of subagent.lua: pi test examples/subagent_test.lua

local t = require "pi.test"
local json = require "pi.json"

t.case("one task", function(t)
  t.hook("subagent.lua")
  t.agent { answers = { "It is in a.lua." } }
  t.model { { tool = "task", input = { task = { prompt = "Where is it?", agent = "scout" } } }, "done" }
  t.prompt("find it")
  t.equal(t.calls("task")[1].text, "## scout\nIt is in a.lua.")
  local asked = t.agent_calls("scout")[1]
  t.equal({ asked.prompt, asked.agent }, { "Where is it?", "scout" })
end)

t.case("several work side by side, and one that fails does not end the others", function(t)
  t.hook("subagent.lua")
  t.agent { name = "left", answers = { { refuse = "no such agent" } } }
  t.agent { name = "right", answers = { { text = "half of it", stop_reason = "limit", error = "no turns left" } } }
  t.agent { answers = { "fine" } }
  local result = t.tool("task", { tasks = { { prompt = "a", name = "left" }, { prompt = "b", name = "right" }, { prompt = "c" } } })
  t.equal(result.text, "## left\n(it ended as error)\nno such agent\n\n## right\n(it ended as limit: no turns left)\nhalf of it\n\n## task 3\nfine")
  t.equal(result.is_error, false)
end)

t.case("in a chain each knows what the one before came to, and the first that fails ends it", function(t)
  t.hook("subagent.lua")
  t.agent { answers = { "100%1 of it", { error = "no network" } } }
  local result = t.tool("task", { chain = { { prompt = "first" }, { prompt = "go on: {previous}" }, { prompt = "never" } } })
  t.equal(t.agent_calls()[2].prompt, "go on: 100%1 of it")
  t.equal(#t.agent_calls(), 2)
  t.match(result.text, "## task 3\n%(it ended as waiting%)\n%(it was not begun%)")
end)

t.case("what the model asks for wrongly it is told", function(t)
  t.hook("subagent.lua")
  t.equal(t.tool("task", {}).text, "give one of task, tasks and chain")
  t.equal(t.tool("task", { task = { prompt = "a" }, chain = { { prompt = "b" } } }).text, "give one of task, tasks and chain")
  t.equal(t.tool("task", { tasks = json.list() }).text, "give 1 to 8 tasks")
end)

t.case("a row says what each does, and what came of it", function(t)
  t.hook("subagent.lua")
  t.answers {}
  t.model {
    { tool = "task", input = { task = { prompt = "look", name = "scout" } } },
    { tool = "ls", input = { path = "." } },
    function() t.clock.advance(3000) return "nothing there" end,
    "done",
  }
  t.prompt("look")
  local drawn, last = "", nil
  for _, drawing in ipairs(t.partial("task")) do
    last = table.concat(drawing.lines, "\n")
    drawn = drawn .. last .. "\n"
  end
  t.match(drawn, "● scout  ls %. +[1-9]%d* tokens")
  t.match(drawn, "● scout  thinking +%d+ tokens")
  t.match(last, "✓ scout  nothing there +%d+ tokens · 3s · %$0%.%d+")
end)

local function repository(t)
  t.hook("subagent.lua")
  t.file("a.txt", "first")
  t.equal(t.shell("git init -q && git add -A && git commit -q -m first").exit_code, 0)
end

t.case("in worktrees they change files side by side, and hand back branches", function(t)
  repository(t)
  t.model { { tool = "write", input = { path = "a.txt", content = "other" } }, "written" }
  local result = t.tool("task", { task = { prompt = "write", name = "two words" }, worktree = true })
  local branch = result.text:match("branch (task/two%-words%-%x+)")
  t.ok(branch, result.text)
  t.equal(t.read("a.txt"), "first")
  t.equal(t.shell("git show " .. branch .. ":a.txt").output, "other")
  t.equal(t.shell("git worktree list --porcelain | grep -c worktree").output, "1\n")
end)

t.case("a worktree in which nothing was changed leaves no branch", function(t)
  repository(t)
  t.agent { answers = { function(asked) return asked.cwd end } }
  local result = t.tool("task", { task = { prompt = "look" }, worktree = true })
  t.match(result.text, "## task 1\n/.*/work$")
  t.equal(t.shell("git branch --list 'task/*'").output, "")
end)

t.case("without a repository there is no worktree", function(t)
  t.hook("subagent.lua")
  local result = t.tool("task", { task = { prompt = "look" }, worktree = true })
  t.match(result.text, "no worktree: ")
  t.ok(result.is_error)
  t.equal(#t.agent_calls(), 0)
end)
