-- Tests of status_line.lua: pi test examples/status_line_test.lua

local t = require "pi.test"

local function line(t) return t.status().status_line end

t.case("it shows changed files, the cache and the time of the last run", function(t)
  t.hook("status_line.lua")
  t.answers {}
  t.shell("git init -q && git commit -q --allow-empty -m first")
  t.file("a.txt", "new")
  t.model { function()
    t.clock.advance(14000)
    return "done"
  end }
  t.prompt("go")
  t.equal(line(t), "1 changed · 0% cached · 14s")
end)

t.case("changes are there when a session starts, and nothing of the run before", function(t)
  t.hook("status_line.lua")
  t.answers {}
  t.file("a.txt", "new")
  t.shell("git init -q")
  t.model { "done" }
  t.prompt("go")
  t.command("/new")
  t.equal(line(t), "1 changed")
end)

t.case("a program that prints has no status line", function(t)
  t.hook("status_line.lua")
  t.model { "done" }
  t.prompt("go")
  t.equal(t.status(), {})
end)
