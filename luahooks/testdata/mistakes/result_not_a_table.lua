-- 4: a handler of tool_call returns nil or a table, not a boolean
pi.on("tool_call", function(event)
  if event.tool_name == "bash" then
    return false
  end
end)
