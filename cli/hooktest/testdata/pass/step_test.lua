local t = require "pi.test"

t.case("a command is given while the model answers", function(t)
  t.hook("step.lua")
  local said
  t.model { function() said = t.command("/now") return "one" end, "two" }
  t.equal(t.prompt("x"), "two")
  t.equal(said, "sent")
end)
