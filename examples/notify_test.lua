-- Tests of notify.lua: pi test examples/notify_test.lua

local t = require "pi.test"

local function begin(t)
  t.hook("notify.lua")
  t.answers {}
end

local function run(t, seconds)
  t.model { function()
    t.clock.advance(seconds * 1000)
    return "It is built."
  end }
  t.prompt("work")
end

t.case("a long run is told", function(t)
  begin(t)
  run(t, 125)
  t.equal(t.desktop(), { { title = "done", body = t.dir() .. ", after 2m 5s: It is built." } })
end)

t.case("a short run is not", function(t)
  begin(t)
  run(t, 19)
  t.equal(t.desktop(), {})
end)

t.case("nor is any while the window is in front", function(t)
  begin(t)
  t.focus(true)
  run(t, 125)
  t.equal(t.desktop(), {})
end)

t.case("what is long can be set", function(t)
  begin(t)
  t.flags { ["notify-after"] = 5 }
  run(t, 6)
  t.equal(#t.desktop(), 1)
end)

t.case("a run that failed is told as that", function(t)
  begin(t)
  t.model { function()
    t.clock.advance(60000)
    return { error = "no such model", status = 404 }
  end }
  t.prompt("work")
  t.equal(t.desktop()[1].title, "failed")
end)

t.case("an agent that the model uses is not told of by itself", function(t)
  begin(t)
  t.file("task.lua", [[pi.tool { name = "task", description = "hands work on", parameters = { type = "object" },
    execute = function(params) return require("pi.agent").run { prompt = params.prompt }.text end }]])
  t.hook(t.dir() .. "/task.lua")
  t.model {
    { tool = "task", input = { prompt = "build it" } },
    function()
      t.clock.advance(60000)
      return "It is built."
    end,
    "done",
  }
  t.prompt("work")
  t.equal(t.desktop(), { { title = "done", body = t.dir() .. ", after 1m: done" } })
  t.equal(t.read("~/.pi/agent/hooks.log"), nil) -- nor did anybody try to
end)
