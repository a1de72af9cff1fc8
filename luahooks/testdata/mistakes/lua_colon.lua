-- 2: 'on' takes at most 2 arguments, got 3; call it with a dot: .on(…)
pi:on("tool_call", function(event) end)
