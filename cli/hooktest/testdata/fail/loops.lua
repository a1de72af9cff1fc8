pi.on("tool_call", function() while true do end end)
