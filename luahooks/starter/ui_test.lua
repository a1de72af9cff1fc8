-- Tests of NAME.lua. t.widget draws what a hook draws, for any width; t.answers plays with the
-- components that it opens.

local t = require "pi.test"

t.case("the row is as wide as the window", function(t)
  t.hook("NAME.lua")
  t.model { { text = "hello", input_tokens = 64000 } }
  t.prompt("hi")
  for _, width in ipairs { 80, 40 } do
    local line = t.widget("NAME", width)[1]
    t.match(line, "^context +%d+%% %[=+%-+%]$")
    t.equal(#line, width)
  end
end)

t.case("Enter takes a prompt into the line", function(t)
  t.hook("NAME.lua")
  t.model { "one", "two" }
  t.prompt("first")
  t.prompt("second")
  t.answers { custom = function(view)
    t.match(table.concat(view.lines(), "\n"), "> second")
    view.key("up", "enter")
  end }
  t.command("/NAME")
  t.equal(t.typed(), "first")
end)

t.case("Esc leaves the line alone", function(t)
  t.hook("NAME.lua")
  t.model { "one" }
  t.prompt("first")
  t.answers { custom = function(view) view.key("escape") end }
  t.command("/NAME")
  t.equal(t.typed(), "")
end)

t.case("without anybody there, it prints them", function(t)
  t.hook("NAME.lua")
  t.model { "one" }
  t.prompt("first")
  t.match(t.command("/NAME"), "^first$")
end)
