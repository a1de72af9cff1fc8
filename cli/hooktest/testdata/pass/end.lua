-- Finishes something at the end, and sleeps in a timer.
local timer = require "pi.timer"

pi.on("session_shutdown", function()
  local done = pi.defer_exit("writing the notes")
  timer.after(30, function()
    pi.append_entry("end_note", { at = "the end" })
    done()
  end)
end)
pi.command("nap", { handler = function(ctx)
  timer.after(0, function()
    timer.sleep(60000)
    ctx.ui.notify("awake")
  end)
end })
