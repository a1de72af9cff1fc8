-- 3: on: unknown event "session_started", did you mean "session_start"?
local count = 0
pi.on("session_started", function() count = count + 1 end)
