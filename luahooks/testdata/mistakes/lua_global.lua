-- 2: assignment to undeclared global 'count' (use local)
count = 0
pi.on("tool_call", function() count = count + 1 end)
