-- Tests of NAME.lua. The model is a script here; t.answers plays the user, whom the program
-- itself asks whether a hook may go on.

local t = require "pi.test"

t.case("it goes on until the command passes", function(t)
  t.hook("NAME.lua")
  t.answers { continuations = true }
  t.model { "I think it is done", { tool = "write", input = { path = "done.txt", content = "yes" } }, "now it is" }
  t.command("/NAME ls done.txt")
  t.equal(#t.requests(), 3)
  t.shown("it passes: ls done.txt")
  t.model { "hello" }
  t.equal(t.prompt("hi"), "hello") -- there is no goal any more
end)

t.case("the model reads why it does not pass", function(t)
  t.hook("NAME.lua")
  t.answers { continuations = true }
  t.model { "done", { tool = "write", input = { path = "done.txt", content = "yes" } }, "now it is" }
  t.command("/NAME ls done.txt || { echo no such file; false; }")
  t.shown("no such file")
end)

t.case("the user says enough", function(t)
  t.hook("NAME.lua")
  t.config { max_continuations = 2 }
  t.answers { continuations = false }
  t.model { "done", "done", "done" }
  t.command("/NAME ls done.txt")
  t.equal(#t.requests(), 3)
  t.shown("given up after 2 requests")
end)

t.case("nothing happens without a goal, and it can be taken back", function(t)
  t.hook("NAME.lua")
  t.model { "hello" }
  t.equal(t.prompt("hi"), "hello")
  t.match(t.command("/NAME"), "no goal any more")
end)
