-- 3: timer.every: not available while the hook loads; use session_start
local timer = require "pi.timer"
timer.every(60000, function() pi.log("a minute") end)
