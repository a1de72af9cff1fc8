-- 3: unknown key "permissionDecision" in the result of tool_call, did you mean "block"?
pi.on("tool_call", function(event)
  return { permissionDecision = "deny", permissionDecisionReason = "no" }
end)
