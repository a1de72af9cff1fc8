local t = require "pi.test"

t.case("a promise is resolved by something else", function(t)
  t.hook("later.lua")
  t.command("/ask-later")
  t.clock.advance(59000)
  t.match(t.command("/answer yes"), "true")
  t.shown("heard yes")
  t.clock.advance(2000)
  t.equal(#t.notices(), 1)
end)

t.case("the clock of the case ends the waiting", function(t)
  t.hook("later.lua")
  t.command("/ask-later")
  t.clock.advance(61000)
  t.shown("heard timeout")
end)

t.case("the clock of the case cancels a signal", function(t)
  t.hook("later.lua")
  t.command("/hurry")
  t.clock.advance(59999)
  t.equal(t.notices(), {})
  t.clock.advance(1)
  t.shown("over: timeout")
end)

t.case("the clock of the case gives a model up", function(t)
  t.hook("later.lua")
  t.model { "in time", function() t.clock.advance(5001) return "too late" end }
  t.equal(t.command("/consult"), "in time")
  t.equal(t.command("/consult"), "timeout")
end)

t.case("time may pass before anything else", function(t)
  t.hook("beat.lua")
  t.model { "heard" }
  t.clock.advance(60000)
  t.equal(#t.requests(), 1)
end)
