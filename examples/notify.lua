-- Notify: a word on the desktop when a long run has ended, while you look at another
-- window: how it ended, after how long, and what the model said last.
--
-- It comes in the way of [ui] notify in config.toml: "osc9" is a notice of the
-- desktop, "bell" the bell of the terminal; where that is "off" nobody is told. pi
-- itself says no more than that a run of 20 seconds is done, and leaves that out
-- where a hook has just said more.
--
-- Long is 20 seconds; pi --notify-after=60 changes that for one start. Runs that
-- you interrupt yourself are not told.
--
-- Install: pi hooks add example:notify, or try it with pi --hook notify.lua.

local text = require "pi.text"
local time = require "pi.time"

if pi.hook.agent then return end -- who waits for the session is told when that is done

pi.flag("notify-after", { description = "seconds that make a run a long one", type = "number", default = 20 })

local started, outcome, said

pi.on("agent_start", function() started, outcome, said = time.now(), "completed", nil end)

pi.on("agent_before_settle", function(event)
  outcome = event.outcome
  for _, message in ipairs(event.messages) do
    if message.role == "assistant" and text.of(message) ~= "" then said = text.of(message) end
  end
end)

pi.on("agent_settled", function(_, ctx)
  local took = started and time.since(started) or 0
  started = nil
  if outcome == "aborted" or took < pi.get_flag("notify-after") * 1000 then return end
  local title = outcome == "error" and "failed" or "done"
  local body = (pi.session_name() or ctx.cwd) .. ", after " .. time.duration(took)
  if said then body = body .. ": " .. text.fit(said, 60) end
  local ok, why = ctx.ui.notify_desktop(title, body)
  if not ok then pi.log("not told: " .. why) end
end)
