-- 4: the event tool_call has no field "args", did you mean "input"?
local EVENT = "tool_call"
pi.on(EVENT, function(event)
  local command = event.args.command
  if command:find("rm ", 1, true) then return { block = true, reason = "no" } end
end)
