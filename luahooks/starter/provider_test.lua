-- Tests of NAME.lua. t.model answers in place of the server, so nothing is sent; t.requests has
-- what would have been asked, of which model.

local t = require "pi.test"

t.case("a model of the server answers", function(t)
  t.hook("NAME.lua")
  t.config { model = "NAME/small" }
  t.model { "good morning" }
  t.equal(t.prompt("hello"), "good morning")
  t.equal(t.requests()[1].model, "NAME/small")
end)

t.case("a model that can think is asked to", function(t)
  t.hook("NAME.lua")
  t.config { model = "NAME/thinker", thinking = "high" }
  t.model { "done" }
  t.prompt("think about it")
  t.equal(t.requests()[1].thinking, "high")
end)

t.case("one that cannot is not", function(t)
  t.hook("NAME.lua")
  t.config { model = "NAME/small", thinking = "high" }
  t.model { "done" }
  t.prompt("think about it")
  t.equal(t.requests()[1].thinking, "off")
end)
