-- Tests of review.lua: pi test examples/review_test.lua

local t = require "pi.test"
local json = require "pi.json"

local function write(text) return { tool = "write", input = { path = "a.lua", content = text } } end

local function texts(request) return json.encode(request.messages) end

t.case("what the reviewer says goes back to the model", function(t)
  t.hook("review.lua")
  t.agent { name = "review", answers = { { value = { findings = { "a.lua: it adds where it has to subtract" } } }, { value = { findings = json.list() } } } }
  t.model { write "return a + b", "done", write "return a - b", "now it is right" }
  t.equal(t.prompt("write a.lua, which subtracts"), "now it is right")
  t.match(texts(t.requests()[3]), "A reviewer has looked at what you changed.*has to subtract")
  t.match(t.agent_calls("review")[1].prompt, "write a%.lua, which subtracts.*a%.lua")
  t.equal(#t.agent_calls("review"), 2)
  t.shown("reviewed: nothing is wrong with a.lua")
end)

t.case("it looks twice at most, and only at what was changed", function(t)
  t.hook("review.lua")
  local wrong = { value = { findings = { "it is wrong" } } }
  t.agent { name = "review", answers = { wrong, wrong, { value = { findings = json.list() } } } }
  t.model { write "1", "done", write "2", "again", write "3", "at last", "hello", write "4", "more" }
  t.prompt("write it")
  t.equal(#t.agent_calls(), 2)
  t.equal(t.read("a.lua"), "3")
  t.prompt("hi")
  t.equal(#t.agent_calls(), 2)
  t.prompt("one more") -- counts anew
  t.equal(#t.agent_calls(), 3)
end)

t.case("what the model leaves as it is ends the run", function(t)
  t.hook("review.lua")
  t.agent { name = "review", answers = { { value = { findings = { "rename it" } } } } }
  t.model { write "1", "done", "the name is as asked" }
  t.equal(t.prompt("write it"), "the name is as asked")
end)

t.case("a review that cannot be made is told, and the run ends", function(t)
  t.hook("review.lua")
  t.agent { name = "review", answers = { { refuse = "no such model" } } }
  t.model { write "1", "done" }
  t.equal(t.prompt("write it"), "done")
  t.shown("not reviewed: no such model")
end)

t.case("the reviewer is a model that reads, and its own work is not reviewed", function(t)
  t.hook("review.lua")
  t.config { hook = { review = { model = "test/model" } } }
  t.file("a.lua", "1")
  t.model {
    write "2", "done",
    { tool = "read", input = { path = "a.lua" } },
    { tool = "final_answer", input = { findings = json.list() } },
  }
  t.prompt("write it")
  t.shown("reviewed: nothing is wrong")
  t.equal(t.requests()[3].tools, { "read", "grep", "find", "ls", "final_answer" })
  t.equal(#t.requests(), 4)
end)

t.case("the differences are those of git", function(t)
  t.hook("review.lua")
  t.file("a.lua", "before\n")
  t.equal(t.shell("git init -q && git add -A && git commit -q -m first").exit_code, 0)
  t.agent { answers = { { value = { findings = json.list() } } } }
  t.model { write "after\n", "done" }
  t.prompt("write it")
  t.match(t.agent_calls()[1].prompt, "%-before\n%+after")
end)
