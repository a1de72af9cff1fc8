-- 3: the event tool_call has no field "toolName", did you mean "tool_name"?
pi.on("tool_call", function(event, ctx)
  if event.toolName == "bash" and not ctx.hasUI then return { block = true, reason = "no" } end
end)
