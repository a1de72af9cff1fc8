-- Tests of custom_compaction.lua: pi test examples/custom_compaction_test.lua

local t = require "pi.test"
local json = require "pi.json"

local function talk(t)
  t.hook("custom_compaction.lua")
  t.config { compaction = { keep_recent_tokens = 1 } }
  t.file("notes.txt", "mind the doors")
  t.model { { tool = "read", input = { path = "notes.txt" } }, "The doors.", "More." }
  t.prompt("read the notes")
  t.prompt("and more")
end

local function compaction(t)
  for _, entry in ipairs(t.entries()) do
    if entry.type == "compaction" then return entry end
  end
end

t.case("the summary has headings of its own and the files", function(t)
  talk(t)
  t.model { "## Goal, its own way" }
  t.ok(t.command("/compact the doors"))
  local request = t.requests()[4]
  t.match(request.system, "## Decisions and their reasons")
  local asked = json.encode(request.messages)
  t.match(asked, "read the notes")
  t.match(asked, "The user asks to take care of this: the doors")
  local entry = t.ok(compaction(t))
  t.equal(entry.summary, "## Goal, its own way\n\n## Files\n- read: notes.txt")
  t.equal(entry.details, { by = "custom_compaction" })
end)

t.case("a model that says nothing leaves it to pi", function(t)
  talk(t)
  t.model { " ", "pi's own summary", "pi's own summary" }
  t.ok(t.command("/compact"))
  t.shown("no summary of your own")
  t.match(t.ok(compaction(t)).summary, "pi's own summary")
end)
