local t = require "pi.test"

t.case("the last answer gets a name, and the name leads back to it", function(t)
  t.hook("bookmark.lua")
  t.model { "one", "two", "three" }
  t.answers { select = "works again" }
  t.prompt("first")
  t.match(t.command("/bookmark works again"), 'bookmark "works again": one')
  t.prompt("second")
  t.match(t.command("/bookmark"), 'back at "works again"')
  t.prompt("third")
  local seen = t.requests()[3].messages
  t.equal(#seen, 3) -- first, one, third: the second prompt is on another branch
  t.match(t.command("/unbookmark works again"), "is forgotten")
  t.match(t.command("/bookmark"), "no bookmarks")
end)

t.case("names are there when the session is resumed", function(t)
  t.hook("bookmark.lua")
  t.model { "one" }
  t.prompt("first")
  t.command("/bookmark here")
  t.reopen()
  t.answers { select = "here" }
  t.match(t.command("/bookmark"), 'back at "here"')
end)

t.case("where nothing was answered there is nothing to name", function(t)
  t.hook("bookmark.lua")
  t.match(t.command("/bookmark x"), "no answer yet")
  t.match(t.command("/unbookmark x"), 'no bookmark "x"')
end)
