-- Tests of NAME.lua. The model is a script here; each case has a folder of its own.

local t = require "pi.test"

t.case("it loads, and a prompt is answered", function(t)
  t.hook("NAME.lua")
  t.model { "hello" }
  t.equal(t.prompt("hi"), "hello")
end)
