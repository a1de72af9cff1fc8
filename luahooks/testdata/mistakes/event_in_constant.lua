-- 3: on: unknown event "tool_cal", did you mean "tool_call"?
local EVENT = "tool_cal"
pi.on(EVENT, function(event)
  if event.tool_name == "bash" then return { block = true } end
end)
