-- Notify: a word on the desktop when a long run has ended, or the bell of the
-- terminal where there is no desktop.
--
-- Long is 20 seconds; pi --notify-after=60 changes that for one start. Runs that
-- you interrupt yourself are not told.
--
-- Install: copy it to ~/.pi/agent/hooks/, or try it with pi --hook notify.lua.

local time = require "pi.time"

pi.flag("notify-after", { description = "seconds that make a run a long one", type = "number", default = 20 })

-- The programs that can tell it on a desktop, the first that there is is taken. The text is an
-- argument of its own everywhere: no shell and no script reads it.
local function ways(title, text)
  return {
    { "notify-send", "--app-name=pi", "--", title, text },
    { "osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)",
      "-e", "end run", "--", title, text },
  }
end

local function tell(ctx, title, text)
  for _, way in ipairs(ways(title, text)) do
    local program = table.remove(way, 1)
    local result = pi.exec(program, way, { timeout = 5000 })
    if result and result.code == 0 then return end
  end
  ctx.ui.run("printf", { "\\a" }) -- a program that has the terminal, unlike those of pi.exec
end

local started, outcome

pi.on("agent_start", function() started, outcome = time.now(), "completed" end)
pi.on("agent_before_settle", function(event) outcome = event.outcome end)

pi.on("agent_settled", function(_, ctx)
  local took = started and time.since(started) or 0
  started = nil
  if outcome == "aborted" or took < pi.get_flag("notify-after") * 1000 then return end
  local how = outcome == "error" and "failed" or "done"
  tell(ctx, "pi: " .. how, (pi.session_name() or ctx.cwd) .. ", after " .. time.duration(took))
end)
