-- 2: bad argument #1 to 'on' (string expected, got table); call it with a dot: .on(…)
pi:on("tool_call", function(event) end)
