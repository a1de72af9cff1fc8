-- Tests of boomerang.lua: pi test examples/boomerang_test.lua

local t = require "pi.test"
local text = require "pi.text"

local function talk(t)
  t.hook("boomerang.lua")
  t.model { "We use Go." }
  t.prompt("which language?")
end

t.case("of a task that is done a summary stays", function(t)
  talk(t)
  t.file("slow.txt", "the network")
  t.model {
    { tool = "read", input = { path = "slow.txt" } },
    "It is the network.",
    "The tests are slow because of the network.",
    "Then we mock it.",
  }
  t.match(t.command("/boomerang why are the tests slow?"), "with a summary of the task")
  t.prompt("what now?")

  local seen = t.requests()[5].messages -- the first prompt, its answer, the summary, the last prompt
  t.equal(#seen, 4)
  t.match(text.of(seen[3]), "slow because of the network")
  for _, message in ipairs(seen) do
    t.ok(not text.of(message):find("It is the network"), "the way there is gone")
  end
end)

t.case("a task that does not come to its end stays", function(t)
  talk(t)
  t.model { { error = "the model is ill" } }
  t.match(t.command("/boomerang try"), "did not come to its end %(error%)")
  t.equal(t.messages()[3].role, "user")
end)

t.case("without a task, or a conversation, nothing is asked", function(t)
  t.hook("boomerang.lua")
  t.match(t.command("/boomerang"), "Say what to do")
  t.match(t.command("/boomerang go"), "nothing to come back to")
  t.equal(#t.requests(), 0)
end)
