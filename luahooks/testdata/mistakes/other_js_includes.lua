-- 5: attempt to call "command.includes", which is no function; s:find(x, 1, true) looks for x in a text
-- check nothing
pi.on("tool_call", function(event)
  local command = event.input.command
  if command.includes("rm -rf") then return { block = true, reason = "no" } end
end)
