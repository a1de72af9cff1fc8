-- Tests of notify.lua: pi test examples/notify_test.lua

local t = require "pi.test"
local fs = require "pi.fs"

-- A desktop that writes down what it is told.
local function desktop(t)
  t.hook("notify.lua")
  t.file("bin/notify-send", '#!/bin/sh\nprintf "%s|" "$@" >> told.txt\n')
  assert(fs.chmod("bin/notify-send", "755"))
  t.env { PATH = t.dir() .. "/bin:" .. os.getenv("PATH") }
end

local function run(t, seconds)
  t.model { function()
    t.clock.advance(seconds * 1000)
    return "done"
  end }
  t.prompt("work")
end

t.case("a long run is told", function(t)
  desktop(t)
  run(t, 125)
  t.match(t.read("told.txt"), "%-%-app%-name=pi|%-%-|pi: done|.*, after 2m 5s|")
end)

t.case("a short run is not", function(t)
  desktop(t)
  run(t, 19)
  t.equal(t.read("told.txt"), nil)
end)

t.case("what is long can be set", function(t)
  desktop(t)
  t.flags { ["notify-after"] = 5 }
  run(t, 6)
  t.ok(t.read("told.txt"))
end)

t.case("a run that failed is told as that", function(t)
  desktop(t)
  t.model { function()
    t.clock.advance(60000)
    return { error = "no such model", status = 404 }
  end }
  t.prompt("work")
  t.match(t.read("told.txt"), "pi: failed")
end)
