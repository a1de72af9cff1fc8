-- 3: the event tool_call has no field "tool", did you mean "tool_name"?
pi.on("tool_call", function(event)
  if event.tool == "bash" then return { block = true, reason = "no shell" } end
end)
