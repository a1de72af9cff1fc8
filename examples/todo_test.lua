-- Tests of todo.lua: pi test examples/todo_test.lua

local t = require "pi.test"
local text = require "pi.text"

local function plan(...)
  local items = {}
  for i, done in ipairs { ... } do items[i] = { text = "step " .. i, done = done } end
  return { tool = "todo", input = { items = items } }
end

t.case("the list is kept, shown, and there after a restart", function(t)
  t.hook("todo.lua")
  t.answers {}
  t.model { plan(true, false), plan(true, true), "done" }
  t.prompt("work")
  t.equal(t.calls("todo")[1].text, "1 of 2 open\n[x] step 1\n[ ] step 2")
  t.shown("in_progress: step 2")
  t.equal(t.command("/todo"), "[x] step 1\n[x] step 2")
  t.match(t.reopen(), "completed: step 2")
end)

t.case("the model is reminded of open items, at most twice", function(t)
  t.hook("todo.lua")
  local reminders = t.events { "omp:todo_reminder" }
  t.model { plan(false), "I stop", "still", "no" }
  t.equal(t.prompt("work"), "no")
  local messages = t.requests()[3].messages
  t.match(text.of(messages[#messages]), "%[ %] step 1")
  t.equal(#reminders, 2)
  t.equal(reminders[2].data, { open = 1, items = { { text = "step 1", done = false } }, attempt = 2, max_attempts = 2 })
  t.model { "again", "a", "b" }
  t.prompt("go on") -- each prompt has its own
  t.equal(#reminders, 4)
end)

t.case("without a list there is nothing to say", function(t)
  t.hook("todo.lua")
  t.model { "done" }
  t.prompt("hi")
  t.equal(#t.requests(), 1)
  t.equal(t.command("/todo"), "No items")
end)
