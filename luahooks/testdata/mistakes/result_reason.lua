-- 4: reason says why a call is blocked: return block = true with it
pi.on("tool_call", function(event)
  if event.tool_name == "bash" then
    return { reason = "no shell today" }
  end
end)
