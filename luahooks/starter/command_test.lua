-- Tests of NAME.lua. The model is a script here; each case has a folder of its own.

local t = require "pi.test"

t.case("it counts prompts and answers", function(t)
  t.hook("NAME.lua")
  t.model { "hello" }
  t.prompt("hi")
  t.match(t.command("/NAME"), "prompts: 1, answers: 1")
end)

t.case("a text is sent to the model", function(t)
  t.hook("NAME.lua")
  t.model { "Lua is a small language." }
  t.command("/NAME what is Lua?")
  t.equal(#t.requests(), 1)
  t.match(t.messages()[1].content[1].text, "In one sentence: what is Lua")
end)
