local t = require "pi.test"

t.case("what is drawn is drawn for the width, and is told what else there is", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.shell("git init -q -b main")
  t.equal(t.header(), { "a header" })
  t.equal(t.footer(60), { "60 main busy true" })
  t.equal(t.footer(), { "80 main busy true" })
  t.raises(function() t.footer(0) end, "positive number")
end)

t.case("a footer has 8 rows, and a widget 10", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.command("/focused")
  t.equal(#t.widget("many", 5), 10)
  t.equal(t.widget("many", 5)[10], "xxxxx10")
  t.equal(t.widget("none"), nil)
  t.edit_hook("desk.lua", [[pi.on("session_start", function(_, ctx)
    ctx.ui.set_footer(function(width) return ("row\n"):rep(width) end)
  end)]])
  t.equal(#t.footer(9), 8)
  t.equal(#t.footer(3), 3)
end)

t.case("three drawings in a row that take too long are the end of it, with an error", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.command("/slow")
  t.equal(t.footer(), {})
  t.shown("desk.lua:27: 3 drawings in a row took longer than 50ms, so it is taken away until it is set again")
end)

t.case("what raises while it is drawn is taken away at once", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.command("/raise")
  t.equal(t.widget("many"), nil)
  t.shown('data has no field "brunch", did you mean "branch"?')
  t.equal(t.footer(9), { "9 none busy true" }) -- that of others stays
end)

t.case("who draws cannot ask", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.command("/asks")
  t.equal(t.header(), {})
  t.shown("a function that draws cannot ask")
end)

t.case("lines take the place of what is drawn, and nil takes them away", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.prompt("")
  t.equal({ t.title(), t.working() }, { "at work", "thinking" })
  t.command("/lines")
  t.equal(t.footer(), { "as they are" })
  t.equal(t.header(), {})
  t.equal({ t.widget("many"), t.title(), t.working() }, {})
end)

t.case("a hook hears of the window", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.equal(t.command("/focused"), "unknown")
  t.focus(false)
  t.equal(t.command("/focused"), "false")
  t.focus(true)
  t.equal(t.command("/focused"), "true")
end)

t.case("a row says what was copied", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.match(t.command("/take two words"), "hook desk copied 9 B to the clipboard")
  t.equal(t.copied(), { "two words" })
  t.match(select(2, t.command("/take")), "the text is empty")
  t.equal(t.command("/large"), "nil the text is larger than 1 MiB")
end)

t.case("there is one notice on the desktop in five seconds", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.equal(t.command("/tell one"), "true nil")
  t.equal(t.command("/tell two"), "nil one notice in 5s: the last one was a moment ago")
  t.clock.advance(5000)
  t.equal(t.command("/tell three 'and more'"), "true nil")
  t.equal(t.desktop(), { { title = "one", body = "" }, { title = "three", body = "and more" } })
  t.clock.advance(5000)
  t.focus(true)
  t.equal(t.command("/tell four"), "nil the terminal is in front")
  t.focus(false)
  t.equal(t.command("/tell five"), "true nil") -- what did not go out is not counted
end)

t.case("nobody is told where that is off", function(t)
  t.hook("desk.lua")
  t.answers {}
  t.config { ui = { notify = "off" } }
  t.equal(t.command("/tell one"), "nil [ui] notify is off")
end)

t.case("without a user there is neither clipboard nor desktop", function(t)
  t.hook("desk.lua")
  t.equal(t.command("/take text"), "nil there is no clipboard here")
  t.equal(t.command("/tell one"), "nil there is no desktop here")
end)
