-- 3: unknown key "message" in the result of tool_call, did you mean "reason"?
pi.on("tool_call", function(event)
  return { block = true, message = "not in this project" }
end)
