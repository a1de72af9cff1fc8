-- 3: ctx.ui has no field "confrim", did you mean "confirm"?
pi.on("tool_call", function(event, ctx)
  if not ctx.ui.confrim("Run it?") then return { block = true, reason = "no" } end
end)
