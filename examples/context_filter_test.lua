-- Tests of context_filter.lua: pi test examples/context_filter_test.lua

local t = require "pi.test"
local text = require "pi.text"

local function prompts(request)
  local list = {}
  for _, message in ipairs(request.messages) do
    if message.role == "user" then list[#list + 1] = text.of(message) end
  end
  return list
end

t.case("an aside is answered, and forgotten with the next prompt", function(t)
  t.hook("context_filter.lua")
  t.file("notes.txt", "secret of the aside")
  t.model { "one", { tool = "read", input = { path = "notes.txt" } }, "two", "three" }
  t.prompt("first")
  t.equal(t.prompt("aside: what is in notes.txt?"), "two")
  t.equal(prompts(t.requests()[3]), { "first", "aside: what is in notes.txt?" })
  t.prompt("go on")
  local last = t.requests()[4]
  t.equal(prompts(last), { "first", "go on" })
  t.equal(#last.messages, 3) -- its call and its result are gone with it
end)

t.case("the session keeps it", function(t)
  t.hook("context_filter.lua")
  t.model { "one", "two" }
  t.prompt("Aside: x")
  t.prompt("go on")
  t.equal(text.of(t.entries()[#t.entries() - 3].message), "Aside: x")
end)
