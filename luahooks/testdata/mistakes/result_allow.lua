-- 3: unknown key "allow" in the result of tool_call, did you mean "block"?
pi.on("tool_call", function(event)
  return { allow = event.tool_name ~= "bash" }
end)
