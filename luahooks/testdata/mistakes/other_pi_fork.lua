-- 2: on: unknown event "session_before_fork", did you mean "session_before_branch"?
pi.on("session_before_fork", function() return { cancel = true } end)
