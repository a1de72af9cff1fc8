-- 3: the event tool_result has no field "exit_code"; it is event.details.exit_code
pi.on("tool_result", function(event)
  if event.tool_name == "bash" and event.exit_code ~= 0 then print("failed") end
end)
