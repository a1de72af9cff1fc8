-- 4: unknown key "blocked" in the result of tool_call, did you mean "block"?
pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" then return end
  return { blocked = true, reason = "no shell today" }
end)
