-- 3: syntax error near '!'; "not equal" is ~=
pi.on("tool_call", function(event)
  if event.tool_name != "bash" then return end
end)
