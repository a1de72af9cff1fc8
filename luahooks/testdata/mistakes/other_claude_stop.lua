-- 2: on: unknown event "Stop", did you mean "agent_before_settle"?
pi.on("Stop", function(event) return { continue = true } end)
