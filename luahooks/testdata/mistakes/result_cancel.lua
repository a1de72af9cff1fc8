-- 3: unknown key "cancel" in the result of tool_call, did you mean "block"?
pi.on("tool_call", function(event)
  return { cancel = true, reason = "not now" }
end)
