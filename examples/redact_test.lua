-- Tests of redact.lua: pi test examples/redact_test.lua

local t = require "pi.test"
local json = require "pi.json"

local SECRET = "ghp_" .. ("0123456789abcdefghijABCDEFGHIJklmnop"):sub(1, 36)

t.case("a secret reaches neither the model nor the session", function(t)
  t.hook("redact.lua")
  t.file("notes.txt", "token: " .. SECRET .. "\nplain words\n")
  t.model { { tool = "read", input = { path = "notes.txt" } }, "done" }
  t.prompt("read")
  local sent = json.encode(t.requests()[2].messages)
  t.ok(not sent:find(SECRET, 1, true), sent)
  t.match(sent, "plain words")
  t.ok(not json.encode(t.entries()):find(SECRET, 1, true))
  t.shown("secrets covered in the result of read: 1")
end)

t.case("of a failed call too", function(t)
  t.hook("redact.lua")
  t.model { { tool = "bash", input = { command = "echo " .. SECRET:sub(1, 10) .. "''" .. SECRET:sub(11) .. "; exit 1" } }, "done" }
  t.prompt("go")
  t.ok(not t.calls("bash")[1].text:find(SECRET, 1, true), t.calls("bash")[1].text)
end)

t.case("what is no secret is left alone", function(t)
  t.hook("redact.lua")
  t.file("notes.txt", "nothing here")
  t.model { { tool = "read", input = { path = "notes.txt" } }, "done" }
  t.prompt("read")
  t.match(t.calls("read")[1].text, "nothing here")
  t.equal(t.notices(), {})
end)
