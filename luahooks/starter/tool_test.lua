-- Tests of NAME.lua. The model is a script here; each case has a folder of its own.

local t = require "pi.test"

t.case("it counts", function(t)
  t.hook("NAME.lua")
  t.file("notes.txt", "one two\nthree\n")
  local result = t.tool("IDENT", { path = "notes.txt" })
  t.equal(result.text, "2 lines, 3 words")
  t.equal(result.details.words, 3)
end)

t.case("the model calls it and reads the result", function(t)
  t.hook("NAME.lua")
  t.file("notes.txt", "one two\n")
  t.model { { tool = "IDENT", input = { path = "notes.txt" } }, "done" }
  t.prompt("how long is it?")
  t.ran("IDENT")
  t.match(t.calls("IDENT")[1].text, "2 words")
end)

t.case("a file that is not there is a failed call", function(t)
  t.hook("NAME.lua")
  local result = t.tool("IDENT", { path = "missing.txt" })
  t.ok(result.is_error)
  t.match(result.text, "missing.txt")
end)
