-- Recap: when you come back to the terminal after a while, a row tells what came of
-- it meanwhile.
--
--   away 12m: 2 runs ended, 1 failed · 3 files changed: a.go, b.go, c.go · last: The tests pass.
--
-- A while is 5 minutes; pi --recap-after=20 changes that for one start. The terminal
-- has to tell when its window comes to the front; most do, inside of tmux with
-- `set -g focus-events on`.
--
-- Install: pi hooks add example:recap, or try it with pi --hook recap.lua.

local text = require "pi.text"
local time = require "pi.time"

pi.flag("recap-after", { description = "minutes away after which you are told what happened", type = "number", default = 5 })

local left -- when the window was left, and what happened since; nil: it is in front

local function count(n, thing) return ("%d %s%s"):format(n, thing, n == 1 and "" or "s") end

-- words are what happened since then; nil if nothing did.
local function words(since)
  if since.runs == 0 then return nil end
  local parts = { count(since.runs, "run") .. " ended" .. (since.failed > 0 and ", " .. since.failed .. " failed" or "") }
  if #since.files > 0 then
    table.insert(parts, count(#since.files, "file") .. " changed: " .. table.concat(since.files, ", "))
  end
  if since.last then table.insert(parts, "last: " .. text.fit(since.last, 60)) end
  return table.concat(parts, " · ")
end

pi.on("focus", function(event, ctx)
  if not event.focused then
    left = left or { at = time.now(), runs = 0, failed = 0, files = {} }
    return
  end
  local since = left
  left = nil
  if not since or time.since(since.at) < pi.get_flag("recap-after") * 60000 then return end
  local happened = words(since)
  if happened then ctx.ui.notify(("away %s: %s"):format(time.duration(time.since(since.at)), happened)) end
end)

pi.on("tool_result", function(event)
  local path = event.input.path
  if not left or event.is_error or event.tool_name ~= "write" and event.tool_name ~= "edit" then return end
  if not left.files[path] then
    left.files[path] = true
    table.insert(left.files, path)
  end
end)

pi.on("agent_before_settle", function(event)
  if left and event.outcome == "error" then left.failed = left.failed + 1 end
end)

pi.on("agent_end", function(event)
  if not left then return end
  left.runs = left.runs + 1
  for _, message in ipairs(event.messages) do
    local said = message.role == "assistant" and text.of(message) or ""
    if said ~= "" then left.last = said end
  end
end)
