-- 3: unknown key "decision" in the result of tool_call, did you mean "block"?
pi.on("tool_call", function(event)
  return { decision = "block", reason = "not today" }
end)
