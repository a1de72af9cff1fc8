local timer = require "pi.timer"
pi.on("session_start", function()
  timer.after(60000, function() pi.send_user_message("a minute has passed") end)
end)
