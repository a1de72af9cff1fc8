-- Tests of git_checkpoint.lua: pi test examples/git_checkpoint_test.lua

local t = require "pi.test"

local function checkpoints(t)
  local list = {}
  for i, entry in ipairs(t.entries()) do
    if entry.type == "git_checkpoint" then list[#list + 1] = entry.commit end
  end
  return list
end

local function work(t)
  t.hook("git_checkpoint.lua")
  t.file("a.txt", "first")
  t.equal(t.shell("git init -q && git add -A && git commit -q -m first && git status --porcelain").exit_code, 0)
  t.model { { tool = "write", input = { path = "b.txt", content = "new" } }, "done" }
  t.prompt("write b.txt")
end

t.case("a snapshot is taken before each turn, and nothing else changes", function(t)
  work(t)
  local commits = checkpoints(t)
  t.equal(#commits, 2)
  t.equal(t.shell("git ls-tree -r --name-only " .. commits[1]).output, "a.txt\n")
  t.equal(t.shell("git ls-tree -r --name-only " .. commits[2]).output, "a.txt\nb.txt\n")
  t.equal(t.shell("git status --porcelain").output, "?? b.txt\n")
  t.match(t.shell("git for-each-ref refs/pi-checkpoints").output, commits[1])
end)

t.case("who branches can have the files of then", function(t)
  local asked
  t.answers { confirm = function(title) asked = title return true end }
  work(t)
  local entries = t.entries()
  local prompt
  for i, entry in ipairs(entries) do
    if entry.type == "message" and entry.message.role == "user" then prompt = entry.id end
  end
  t.ok(t.command("/branch " .. prompt))
  t.equal(asked, "Restore the files too?")
  t.equal(t.read("b.txt"), nil)
  t.equal(t.read("a.txt"), "first")
  t.shown("the files are those of the checkpoint")
end)

t.case("outside of a repository nothing happens", function(t)
  t.hook("git_checkpoint.lua")
  t.model { "done" }
  t.prompt("hi")
  t.equal({ checkpoints(t), t.notices() }, { {}, {} })
end)

t.case("an agent that the model uses takes no snapshots of its own", function(t)
  t.hook("git_checkpoint.lua")
  t.file("task.lua", [[pi.tool { name = "task", description = "hands work on", parameters = { type = "object" },
    execute = function(params) return require("pi.agent").run { prompt = params.prompt }.text end }]])
  t.hook(t.dir() .. "/task.lua")
  t.file("a.txt", "first")
  t.equal(t.shell("git init -q && git add -A && git commit -q -m first").exit_code, 0)
  t.model {
    { tool = "task", input = { prompt = "try it" } },
    { tool = "write", input = { path = "b.txt", content = "new" } },
    { tool = "bash", input = { command = "rm b.txt" } },
    "tried",
    "done",
  }
  t.equal(t.prompt("try it"), "done")
  t.equal(#checkpoints(t), 2)
  t.equal(t.shell("for r in $(git for-each-ref --format='%(refname)' refs/pi-checkpoints); do git ls-tree --name-only $r; done").output:match("b.txt"), nil)
end)
