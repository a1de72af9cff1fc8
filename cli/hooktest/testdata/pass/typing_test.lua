local t = require "pi.test"

t.case("what is typed while the agent works", function(t)
  t.hook("typing.lua")
  t.model { function()
    t.equal(t.ok(t.command("/say this")), "said this")
    t.ok(t.key("ctrl+alt+y"))
    t.equal(t.prompt("not that"), nil)
    t.equal(t.shell("echo here").output, "here\n")
    t.equal(t.tool("read", { path = "none" }).is_error, true)
    t.command("/ask")
    return "first"
  end, "second", "third" }
  t.equal(t.prompt("begin"), "third")
  t.shown("pressed")
  t.shown("the run has ended: completed")
  local asked = t.requests()
  t.equal(#asked, 3)
  t.equal(asked[2].messages[#asked[2].messages].content[1].text, "not that")
end)

t.case("what ends the work is not typed while it goes on", function(t)
  t.hook("typing.lua")
  t.model { function()
    local shown, err = t.command("/new")
    t.equal(shown, nil)
    t.match(err, "^/new ends what runs, and that waits for this function; type it behind t.prompt$")
    t.raises(t.reopen, "the agent works, and waits for this function")
    return "done"
  end }
  t.equal(t.prompt("begin"), "done")
end)

t.case("what is done beside has ended, whatever began it and however that ended", function(t)
  t.hook("typing.lua")
  t.model { { error = "broken", status = 400 } }
  local answer, err = t.prompt("fail")
  t.ok(err)
  t.shown("beside a run")
  t.tool("slow")
  t.shown("beside a tool")
  local shown, failed = t.command("/fails")
  t.ok(failed)
  t.shown("beside a command")
end)

t.case("a field draws a list, also of one row", function(t)
  t.hook("typing.lua")
  t.equal(t.command("/field"), "table")
end)

t.case("hooks load anew as they are", function(t)
  t.hook("typing.lua")
  t.command("/say one")
  t.ok(t.edit_hook("typing.lua"))
  t.shown("began: reload")
end)

t.case("a file that is a program", function(t)
  t.file("bin/hello", "#!/bin/sh\necho hello\n", { mode = "755" })
  t.equal(t.shell("bin/hello").output, "hello\n")
  t.raises(function() t.file("x", "", { mode = "9" }) end, 'mode is a text such as "755", not "9"')
end)
