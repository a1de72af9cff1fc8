pi.on("tool_cal", function() end)
