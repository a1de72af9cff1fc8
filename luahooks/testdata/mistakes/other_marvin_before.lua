-- 2: on: unknown event "tool.execute.before", did you mean "tool_call"? (pi.compat.marvin has it)
pi.on("tool.execute.before", function(event) print(event.tool) end)
