-- 4: bad argument #1 to 'timer.after' (number expected, got function)
local timer = require "pi.timer"
pi.on("session_start", function()
  timer.after(function() print("late") end, 1000)
end)
