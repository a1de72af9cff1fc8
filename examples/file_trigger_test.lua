-- Tests of file_trigger.lua: pi test examples/file_trigger_test.lua

local t = require "pi.test"
local json = require "pi.json"

t.case("a file that is there when the session starts wakes the agent", function(t)
  t.hook("file_trigger.lua")
  t.file("~/.pi/agent/trigger.txt", "2 tests failed")
  t.answers {}
  t.model { "I look." }
  t.soon(function() return #t.requests() == 1 end)
  t.match(json.encode(t.requests()[1].messages), "Another program reports:.*2 tests failed")
  t.equal(t.read("~/.pi/agent/trigger.txt"), nil)
end)

t.case("so does one that is written later", function(t)
  t.hook("file_trigger.lua")
  t.env { PI_TRIGGER_FILE = "~/reports/ci.txt" }
  t.answers {}
  t.model { "hello", "I look." }
  t.prompt("hi")
  t.file("~/reports/ci.txt", "red")
  t.soon(function() return #t.requests() == 2 end, "nothing woke the agent")
  t.match(json.encode(t.requests()[2].messages), "red")
end)

t.case("a program that prints leaves the file alone", function(t)
  t.hook("file_trigger.lua")
  t.file("~/.pi/agent/trigger.txt", "2 tests failed")
  t.model { "hello" }
  t.prompt("hi")
  t.equal(t.read("~/.pi/agent/trigger.txt"), "2 tests failed")
end)

t.case("an agent that the model uses is woken by nobody", function(t)
  t.hook("file_trigger.lua")
  t.file("task.lua", [[pi.tool { name = "task", description = "hands work on", parameters = { type = "object" },
    execute = function(params) return require("pi.agent").run { prompt = params.prompt }.text end }]])
  t.hook(t.dir() .. "/task.lua")
  t.answers {}
  t.model { "looked" }
  t.match(t.tool("task", { prompt = "look" }).text, "looked")
  t.equal(t.notices(), {})
end)
