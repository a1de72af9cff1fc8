-- Tests of stream_rules.lua: pi test examples/stream_rules_test.lua

local t = require "pi.test"
local text = require "pi.text"

local PUSH = "I run git push --force origin main now"

t.case("an answer that breaks a rule is stopped, and the model told", function(t)
  t.hook("stream_rules.lua")
  local triggered = t.events { "omp:ttsr_triggered" }
  t.model { PUSH, "I push to a new branch" }
  t.equal(t.prompt("push it"), "I push to a new branch")
  local messages = t.requests()[2].messages
  t.match(text.of(messages[#messages]), "Never push with %-%-force here")
  t.equal({ #triggered, triggered[1].data.rules[1].name }, { 1, "no-force-push" })
end)

t.case("so is one that writes it into a call", function(t)
  t.hook("stream_rules.lua")
  t.model { { tool = "bash", input = { command = "git push -f" } }, "I do not" }
  t.prompt("push it")
  t.equal(t.calls("bash"), {})
end)

t.case("a rule is told once per prompt", function(t)
  t.hook("stream_rules.lua")
  t.model { PUSH, PUSH, PUSH, "fine" }
  t.equal(t.prompt("push it"), PUSH)
  t.equal(t.prompt("and again"), "fine")
  t.equal(#t.requests(), 4)
end)

t.case("other words pass", function(t)
  t.hook("stream_rules.lua")
  t.model { "I run git push origin main" }
  t.prompt("push it")
  t.equal(#t.requests(), 1)
end)
