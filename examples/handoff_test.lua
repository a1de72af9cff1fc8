-- Tests of handoff.lua: pi test examples/handoff_test.lua

local t = require "pi.test"
local text = require "pi.text"

local function talk(t)
  t.hook("handoff.lua")
  t.model { "We use Go.", "You go on: it is in Go." }
  t.prompt("which language?")
end

t.case("a new session begins with the summary", function(t)
  talk(t)
  t.match(t.command("/handoff"), "it knows the summary")
  t.match(text.of(t.requests()[2].messages[1]), "We use Go")
  t.equal(text.of(t.messages()[1]), "You go on: it is in Go.")
  t.equal(#t.messages(), 1)
end)

t.case("what stands behind the command is its first prompt", function(t)
  talk(t)
  t.model { "Tests are there." }
  t.command("/handoff now add the tests")
  t.match(text.of(t.requests()[2].messages[1]), "The next task will be: now add the tests")
  local messages = t.messages()
  t.equal({ text.of(messages[2]), text.of(messages[3]) }, { "now add the tests", "Tests are there." })
end)

t.case("the user can change the summary, or call it off", function(t)
  t.answers { editor = { "shorter", "" } }
  talk(t)
  t.command("/handoff")
  t.equal(text.of(t.messages()[1]), "shorter")
  t.model { "again" }
  t.match(t.command("/handoff"), "called off")
  t.equal(#t.messages(), 1)
end)

t.case("there may be nothing to hand over", function(t)
  t.hook("handoff.lua")
  t.match(t.command("/handoff"), "There is nothing to hand over")
end)
