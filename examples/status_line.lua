-- Status line: beside what pi shows above the prompt itself, how many files
-- differ from the last commit, how much of the last request the provider had in
-- its cache, and how long the last run took.
--
--   3 changed · 85% cached · 14s
--
-- What is not known is left out.
--
-- Install: copy it to ~/.pi/agent/hooks/, or try it with pi --hook status_line.lua.

local git = require "pi.git"
local time = require "pi.time"

local started, took, cached

local function show(ctx)
  if not ctx.has_ui then return end
  local parts, changes = {}, git.status{ cwd = ctx.cwd }
  if changes and #changes > 0 then table.insert(parts, #changes .. " changed") end
  if cached then table.insert(parts, ("%.0f%% cached"):format(cached)) end
  if took then table.insert(parts, time.duration(took)) end
  ctx.ui.set_status("status_line", table.concat(parts, " · "))
end

pi.on("session_start", function(_, ctx)
  started, took, cached = nil, nil, nil
  show(ctx)
end)

pi.on("agent_start", function() started = time.now() end)

pi.on("turn_end", function(event, ctx)
  local usage = event.usage
  local sent = usage.input + usage.cache_read + usage.cache_write
  cached = sent > 0 and usage.cache_read / sent * 100 or nil
  show(ctx)
end)

pi.on("agent_settled", function(_, ctx)
  took = started and time.since(started)
  show(ctx)
end)
