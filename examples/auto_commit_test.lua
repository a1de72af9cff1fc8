local t = require "pi.test"

-- A repository with one file, and a change of the user's own in another.
local function repository(t)
  t.file("mine.txt", "a beginning\n")
  t.tool("bash", { command = table.concat({
    "git init -q", "git config user.name Tester", "git config user.email tester@localhost",
    "git add .", "git commit -qm start", "echo more >> mine.txt",
  }, " && ") })
  t.reopen() -- the session begins now
end

local function git(t, command) return t.tool("bash", { command = "git " .. command }).text end

t.case("what the agent changed is committed at the end, and nothing else", function(t)
  t.hook("auto_commit.lua")
  repository(t)
  t.model { { tool = "write", input = { path = "new.txt", content = "new\n" } }, "I wrote new.txt.\n\nIt is short." }
  t.prompt("write a file")
  t.reopen()
  t.equal(git(t, "log -1 --format=%B"), "write a file\n\nI wrote new.txt.\n\nIt is short.\n\n")
  t.equal(git(t, "show --name-only --format="), "new.txt\n")
  t.match(git(t, "status --short"), "^ M mine.txt")
end)

t.case("a session that changed nothing commits nothing", function(t)
  t.hook("auto_commit.lua")
  repository(t)
  t.model { "hello" }
  t.prompt("hello")
  t.reopen()
  t.equal(git(t, "log --format=%s"), "start\n")
end)

t.case("hooks of the repository do not run", function(t)
  t.hook("auto_commit.lua")
  repository(t)
  t.model {
    { tool = "write", input = { path = "new.txt", content = "new\n" } },
    { tool = "bash", input = { command = "printf '#!/bin/sh\\ntouch ran' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit" } },
    "done",
  }
  t.prompt("write a file")
  t.reopen()
  t.match(git(t, "log -1 --format=%s"), "write a file")
  t.equal(t.read("ran"), nil)
end)

t.case("an agent that the model uses commits nothing when it is done", function(t)
  t.hook("auto_commit.lua")
  t.file("task.lua", [[pi.tool { name = "task", description = "hands work on", parameters = { type = "object" },
    execute = function(params) return require("pi.agent").run { prompt = params.prompt }.text end }]])
  t.hook(t.dir() .. "/task.lua")
  repository(t)
  t.model {
    { tool = "task", input = { prompt = "write it" } },
    { tool = "write", input = { path = "new.txt", content = "new\n" } },
    "written",
    function()
      t.equal(t.shell("git log --format=%s").output, "start\n")
      return "done"
    end,
  }
  t.prompt("have a file written")
  t.reopen()
  t.equal(git(t, "log -1 --format=%s"), "have a file written\n")
end)
