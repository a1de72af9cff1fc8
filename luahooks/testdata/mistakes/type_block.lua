-- 3: block: expected a boolean, got string
pi.on("tool_call", function(event)
  return { block = "no", reason = "not today" }
end)
