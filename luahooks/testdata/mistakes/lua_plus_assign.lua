-- 3: syntax error near '+'; Lua changes a value as in n = n + 1
local calls = 0
pi.on("tool_call", function() calls += 1 end)
