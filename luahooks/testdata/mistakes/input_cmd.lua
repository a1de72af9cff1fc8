-- check 4: the input of bash has no field "cmd"; it has command, timeout
pi.on("tool_call", function(event)
  if event.tool_name ~= "bash" then return end
  local command = event.input.cmd or ""
  if command:find("rm ", 1, true) then return { block = true, reason = "no" } end
end)
