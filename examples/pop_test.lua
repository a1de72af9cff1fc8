-- Tests of pop.lua: pi test examples/pop_test.lua

local t = require "pi.test"
local text = require "pi.text"

local function texts(messages)
  local list = {}
  for i, message in ipairs(messages) do list[i] = text.of(message) end
  return list
end

local function talk(t)
  t.hook("pop.lua")
  t.model { "a1", "a2", "a3" }
  t.prompt("q1")
  t.prompt("q2")
  t.prompt("q3")
end

-- The position of the entry with a text, as /pop names turns.
local function entry(t, words)
  for i, e in ipairs(t.entries()) do
    if e.type == "message" and text.of(e.message) == words then return i end
  end
end

t.case("what came of a turn becomes a summary", function(t)
  talk(t)
  t.model { "two and three", "a4" }
  t.match(t.command("/pop " .. entry(t, "q2")), "Popped to turn")
  t.equal(texts(t.messages()), { "q1", "a1", "[Summary]\n\ntwo and three" })
  t.prompt("q4")
  t.equal(texts(t.requests()[5].messages), { "q1", "a1", "[Summary]\n\ntwo and three", "q4" })
end)

t.case("the user is asked which turn", function(t)
  t.answers { select = function(_, lines) return lines[1] end }
  talk(t)
  t.model { "all of it" }
  t.command("/pop")
  t.equal(texts(t.messages()), { "[Summary]\n\nall of it" })
end)

t.case("a resumed session is popped as well", function(t)
  talk(t)
  t.model { "two and three" }
  t.command("/pop " .. entry(t, "q2"))
  t.reopen()
  t.equal(#t.messages(), 3)
end)

t.case("there have to be two turns, and the turn has to be one", function(t)
  t.hook("pop.lua")
  t.match(t.command("/pop"), "Need at least 2 turns")
  t.model { "a1", "a2" }
  t.prompt("q1")
  t.prompt("q2")
  local shown, err = t.command("/pop 99")
  t.equal(shown, nil)
  t.match(err, "no turn 99")
end)
