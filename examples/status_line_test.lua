-- Tests of status_line.lua: pi test examples/status_line_test.lua

local t = require "pi.test"

local function row(t, width) return t.widget("status_line", width)[1] end

local function begin(t)
  t.hook("status_line.lua")
  t.answers {}
  t.shell("git init -q && git commit -q --allow-empty -m first")
  t.file("a.txt", "new")
end

t.case("it shows changed files, the cache and the time of the last run", function(t)
  begin(t)
  t.model { function()
    t.clock.advance(14000)
    return "done"
  end }
  t.prompt("go")
  t.equal(row(t), "1 changed · 0% cached · 14s")
end)

t.case("what there is no room for is left out, the last first", function(t)
  begin(t)
  t.model { function()
    t.clock.advance(14000)
    return "done"
  end }
  t.prompt("go")
  for width, want in pairs { [27] = "1 changed · 0% cached · 14s", [26] = "1 changed · 0% cached", [20] = "1 changed" } do
    t.equal(row(t, width), want)
  end
  t.equal(t.widget("status_line", 5), nil)
end)

t.case("changes are there when a session starts, and nothing of the run before", function(t)
  begin(t)
  t.model { "done" }
  t.prompt("go")
  t.command("/new")
  t.equal(row(t), "1 changed")
end)
