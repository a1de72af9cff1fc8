-- 3: the event tool_call has no field "args", did you mean "input"?
pi.on("tool_call", function(event)
  local command = event.args.command
  if command:find("rm ", 1, true) then return { block = true, reason = "no" } end
end)
