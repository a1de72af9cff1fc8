-- 2: pi has no field "on_tool_call"; it is pi.on("tool_call", …)
pi.on_tool_call(function(event)
  return { block = true, reason = "no" }
end)
