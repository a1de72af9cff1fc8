local t = require "pi.test"

t.case("a case has all but a terminal to lend", function(t)
  t.hook("able.lua")
  t.answers {}
  t.equal(t.command("/able"), "true true true false esc")
end)

t.case("where nobody is there, nothing shows a component", function(t)
  t.hook("able.lua")
  t.match(t.command("/able"), "^false true true false")
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
