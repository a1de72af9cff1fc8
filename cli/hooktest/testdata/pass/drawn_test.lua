local t = require "pi.test"

t.case("what a tool reports is seen as a person sees it", function(t)
  t.hook("drawn.lua")
  t.tool("count", { to = 2 })
  local seen = t.partial("count")
  t.equal(seen[1], { tool = "count", id = seen[1].id, partial = true, text = "at 1", call = { "counting to 2" }, lines = { "at 1 of 2", "80" } })
  local last = seen[#seen]
  t.equal({ last.partial, last.text, last.call, last.lines }, { false, "done", { "counted to 2" }, { "done of 2", "80" } })
  local texts = {}
  for _, one in ipairs(seen) do
    if texts[#texts] ~= one.text then texts[#texts + 1] = one.text end
  end
  t.equal(texts, { "at 1", "at 2", "done" })
  t.equal(#seen, 4) -- the first was drawn again
end)

t.case("each report is there, however fast they come", function(t)
  t.hook("drawn.lua")
  t.tool("count", { to = 40 })
  t.equal(#t.partial("count"), 42)
end)

t.case("a call that fails is drawn once, at its end", function(t)
  t.hook("drawn.lua")
  t.tool("count", { to = 0 })
  local seen = t.partial()
  t.equal(#seen, 1)
  t.match(seen[1].lines[1], "nothing to count")
  t.equal(seen[1].lines[2], "80 failed")
end)

t.case("a call that nobody draws has no lines", function(t)
  t.hook("drawn.lua")
  t.tool("note")
  t.equal(t.partial("note"), { { tool = "note", id = t.partial()[1].id, partial = false, text = "written" } })
  t.equal(t.partial("count"), {})
end)

t.case("what a tool has written is there when the session is opened again", function(t)
  t.hook("drawn.lua")
  t.tool("note")
  t.reopen()
  local found
  for _, entry in ipairs(t.entries()) do
    if entry.custom_type == "drawn_note" then found = entry.data.text end
  end
  t.equal(found, "kept")
end)

t.case("a key is the same in whichever order its modifiers are", function(t)
  t.hook("drawn.lua")
  for _, name in ipairs { "ctrl+shift+f6", "shift+ctrl+f6", "Shift+Control+F6" } do
    t.ok(t.key(name))
  end
  local ok, message = t.key("alt+f6")
  t.equal(ok, nil)
  t.match(message, "no hook has the key \"alt%+f6\"; taken are: ctrl%+shift%+f6")
  t.answers { confirm = true }
end)

t.case("a component gets keys by the names that a terminal has", function(t)
  t.hook("drawn.lua")
  t.answers { confirm = true }
  t.command("/keys")
  t.view().key("shift+ctrl+up", "A", "+", "Return")
  for _, name in ipairs { "key ctrl+shift+up", "key A", "key +", "key enter" } do t.shown(name) end
end)

t.case("a paste goes into a field as one", function(t)
  t.hook("drawn.lua")
  t.answers { custom = function(view)
    view.paste("one\ntwo")
    view.key("ctrl+j")
    view.type("three")
    t.equal(view.lines(20), { "one", "two", "three" })
    view.key("enter")
  end }
  t.equal(t.command("/write"), "one\ntwo\nthree")
end)

t.case("a list is filtered by what is typed", function(t)
  t.hook("drawn.lua")
  t.answers { custom = function(view)
    view.type("an")
    t.match(view.lines(40)[2], "banana")
    view.key("enter")
  end }
  t.equal(t.command("/choose"), "banana")
end)

t.case("a path that is not in the project shows the form that would have worked", function(t)
  t.hook("drawn.lua")
  t.file("~/notes/a.txt", "x")
  t.file("b.txt", "y")
  local project = t.dir()
  t.raises(function() t.read(project .. "/b.txt") end, 't.read("b.txt")')
  local home = project:gsub("/project$", "/home")
  t.raises(function() t.read(home .. "/notes/a.txt") end, 't.read("~/notes/a.txt")')
  t.raises(function() t.file(home .. "/c.txt", "z") end, 't.file("~/c.txt"')
  t.raises(function() t.read("/etc/passwd") end, "is not in the project of the case; ~/… is its home directory")
end)
