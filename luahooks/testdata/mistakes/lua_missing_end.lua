-- 5: syntax error near ')'; "if" in line 3 has no end
pi.on("tool_call", function(event)
  if event.tool_name == "bash" then
    return { block = true, reason = "no" }
end)
