-- Tests of NAME.lua. Its model answers here in place of the one that tests usually have.

local t = require "pi.test"

t.case("it says what was said", function(t)
  t.hook("NAME.lua")
  t.config { model = "NAME/parrot" }
  t.equal(t.prompt("hello"), "You say: hello")
end)

t.case("it calls a tool and goes on with the result", function(t)
  t.hook("NAME.lua")
  t.config { model = "NAME/parrot" }
  t.file("notes.txt", "keep me")
  local answer = t.prompt("list the files")
  t.ran("bash")
  t.match(answer, "notes.txt")
end)
