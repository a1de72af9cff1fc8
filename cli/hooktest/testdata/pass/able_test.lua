local t = require "pi.test"

t.case("who answers has all but a terminal to lend, and nobody has nothing", function(t)
  t.hook("able.lua")
  t.equal(t.command("/able"), "false false false false esc")
  t.answers {}
  t.equal(t.command("/able"), "true true true false esc")
end)

t.case("nothing is shown while it works, until that is taken back", function(t)
  t.hook("able.lua")
  t.equal(t.working(), nil)
  t.command("/hush")
  t.equal(t.working(), false)
  t.command("/speak")
  t.equal(t.working(), "thinking")
  t.command("/hush")
  t.command("/usual")
  t.equal(t.working(), nil)
end)
