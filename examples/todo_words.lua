-- Words for TODOs: type # and a part of what you look for, and Tab offers the
-- lines of the project that have TODO, FIXME or XXX in them.
--
--   > what is left to do for #retry        →  #agent/retry.go:41
--
-- Such a word is sent with the line that it stands for, so that the model need
-- not look for it.
--
-- The lines are found with git when a session begins and after each run, for a
-- completion has to answer while you type.
--
-- Needs: `git`.
--
-- Install: pi hooks add example:todo_words, or try it with pi --hook todo_words.lua.

local text = require "pi.text"

local PATTERN = "TODO|FIXME|XXX"
local MOST = 2000

local found, lines = {}, {} -- what is offered; the line by its place

local function look(ctx)
  local grep = ctx.exec("git", { "grep", "-nIE", PATTERN }, { timeout = 5000 })
  if not grep or grep.code > 1 then return end -- no repository
  found, lines = {}, {}
  for path, number, line in grep.stdout:gmatch("([^\n:]+):(%d+):([^\n]*)") do
    if #found == MOST then break end
    local place = path .. ":" .. number
    lines[place] = text.truncate(line:gsub("^%s+", ""), { bytes = 500 })
    found[#found + 1] = { value = "#" .. place, label = "#" .. place, description = lines[place] }
  end
end

pi.on("session_start", function(_, ctx) look(ctx) end)
pi.on("agent_settled", function(_, ctx) look(ctx) end)

pi.completion("#", {
  description = "a TODO of the project",
  complete = function() return found end,
})

pi.on("input", function(event)
  local named = {}
  for place in event.text:gmatch("#(%S+:%d+)") do
    if lines[place] then named[#named + 1] = place .. ": " .. lines[place] end
  end
  if #named == 0 then return end
  return { text = event.text .. "\n\n" .. table.concat(named, "\n") }
end)
