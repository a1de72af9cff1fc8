-- 2: on: unknown event "tool.execute.after", did you mean "tool_result"? (pi.compat.marvin has it)
pi.on("tool.execute.after", function(event) print(event.tool_name) end)
