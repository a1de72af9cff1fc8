-- check 3: "null" is not defined, so it is nil
pi.on("tool_call", function(event)
  if event.input.path == null then return end
end)
