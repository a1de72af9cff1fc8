-- Tests of NAME.lua. The model is a script here; each case has a folder of its own.

local t = require "pi.test"

-- Reads a long file, and talks on for some prompts. Returns what the model saw last.
local function conversation(t, prompts)
  t.hook("NAME.lua")
  t.file("long.txt", ("word "):rep(1000))
  t.model { { tool = "read", input = { path = "long.txt" } }, "I have read it" }
  t.prompt("read the file")
  for i = 1, prompts do
    t.model { "yes" }
    t.prompt("and?")
  end
  local requests = t.requests()
  return requests[#requests].messages
end

local function text_of_result(messages)
  for _, message in ipairs(messages) do
    if message.role == "toolResult" then return message.content[1].text end
  end
end

t.case("what was just read is whole", function(t)
  t.match(text_of_result(conversation(t, 1)), "word word")
end)

t.case("later it is a note", function(t)
  local messages = conversation(t, 6)
  t.match(text_of_result(messages), "5000 bytes of an earlier result")
  t.equal(messages[1].role, "user") -- and the rest is there
end)

t.case("the session keeps all of it", function(t)
  conversation(t, 6)
  for _, entry in ipairs(t.entries()) do
    if entry.message and entry.message.role == "toolResult" then t.match(entry.message.content[1].text, "word word") end
  end
end)
