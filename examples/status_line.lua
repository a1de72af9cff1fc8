-- Status line: a row below the line: how many files differ from the last commit, how
-- much of the last request was in the cache of the provider, and how long the last
-- run took.
--
--   3 changed · 85% cached · 14s
--
-- What is not known is left out, and so is what there is no room for, the last first.
--
-- Needs: `git`.
--
-- Install: pi hooks add example:status_line, or try it with pi --hook status_line.lua.

local git = require "pi.git"
local text = require "pi.text"
local time = require "pi.time"

local started, took, cached
local parts, redraw = {}, function() end

-- draw is called whenever the row has to be drawn, so what is slow is not done here.
local function draw(width, surface)
  redraw = surface.request_render
  for n = #parts, 1, -1 do
    local row = table.concat(parts, " · ", 1, n)
    if text.width(row) <= width then return row end
  end
end

local function look(ctx)
  local changes = git.status{ cwd = ctx.cwd }
  parts = {}
  if changes and #changes > 0 then table.insert(parts, #changes .. " changed") end
  if cached then table.insert(parts, ("%.0f%% cached"):format(cached)) end
  if took then table.insert(parts, time.duration(took)) end
  redraw()
end

pi.on("session_start", function(_, ctx)
  started, took, cached = nil, nil, nil
  ctx.ui.set_widget("status_line", draw, { place = "below" })
  look(ctx)
end)

pi.on("agent_start", function() started = time.now() end)

pi.on("turn_end", function(event, ctx)
  local usage = event.usage
  local sent = usage.input + usage.cache_read + usage.cache_write
  cached = sent > 0 and usage.cache_read / sent * 100 or nil
  look(ctx)
end)

pi.on("agent_settled", function(_, ctx)
  took = started and time.since(started)
  look(ctx)
end)
