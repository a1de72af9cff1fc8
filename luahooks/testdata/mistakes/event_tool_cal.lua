-- 2: on: unknown event "tool_cal", did you mean "tool_call"?
pi.on("tool_cal", function(event)
  if event.tool_name == "bash" then return { block = true } end
end)
