-- Tests of recap.lua: pi test examples/recap_test.lua

local t = require "pi.test"

local function away(t, minutes)
  t.focus(false)
  t.clock.advance(minutes * 60000)
  t.focus(true)
end

-- The rows that tell what happened.
local function recaps(t)
  local rows = {}
  for _, notice in ipairs(t.notices()) do
    if notice.text:find("^away ") then table.insert(rows, notice.text) end
  end
  return rows
end

local function begin(t)
  t.hook("recap.lua")
  t.answers {}
end

t.case("who comes back is told what happened", function(t)
  begin(t)
  t.model {
    { calls = { { tool = "write", input = { path = "a.txt", content = "a" } }, { tool = "write", input = { path = "b.txt", content = "b" } } } },
    function() t.focus(false) return { tool = "edit", input = { path = "a.txt", old_text = "a", new_text = "c" } } end,
    { tool = "read", input = { path = "b.txt" } },
    "Both files are there.",
  }
  t.prompt("go")
  t.clock.advance(12 * 60000)
  t.focus(true)
  t.equal(recaps(t), { "away 12m: 1 run ended · 1 file changed: a.txt · last: Both files are there." })
end)

t.case("runs that failed are counted", function(t)
  begin(t)
  t.model { function() t.focus(false) return "fine" end, { error = "no such model", status = 404 } }
  t.prompt("go")
  t.prompt("on")
  t.clock.advance(6 * 60000)
  t.focus(true)
  t.equal(recaps(t), { "away 6m: 2 runs ended, 1 failed · last: fine" })
end)

t.case("a moment away is not worth a word, nor is one in which nothing happened", function(t)
  begin(t)
  t.model { function() t.focus(false) return "fine" end }
  t.prompt("go")
  t.clock.advance(4 * 60000)
  t.focus(true)
  away(t, 60)
  t.equal(recaps(t), {})
end)

t.case("how long a while is can be set", function(t)
  begin(t)
  t.flags { ["recap-after"] = 0.5 }
  t.model { function() t.focus(false) return "fine" end }
  t.prompt("go")
  t.clock.advance(31000)
  t.focus(true)
  t.equal(#recaps(t), 1)
end)
