-- Tests of todo_words.lua: pi test examples/todo_words_test.lua

local t = require "pi.test"
local text = require "pi.text"

local function project(t)
  t.hook("todo_words.lua")
  t.file("a.go", "package a\n\t// TODO: retry\n")
  t.shell("git init -q && git add -A")
end

local function sent(t)
  local messages = t.requests()[1].messages
  return text.of(messages[#messages])
end

t.case("the lines are there when a session begins", function(t)
  project(t)
  t.reopen()
  t.equal(t.complete("#re"), { "#a.go:2" })
  t.model { "done" }
  t.prompt("do #a.go:2 please")
  t.equal(sent(t), "do #a.go:2 please\n\na.go:2: // TODO: retry")
end)

t.case("and after each run", function(t)
  project(t)
  t.model { "one", "two" }
  t.prompt("hi")
  t.file("a.go", "package a\n")
  t.prompt("hi again")
  t.equal(t.complete("#"), {})
end)

t.case("another word with # is a word", function(t)
  project(t)
  t.model { "done" }
  t.prompt("issue #7:1")
  t.equal(sent(t), "issue #7:1")
end)
