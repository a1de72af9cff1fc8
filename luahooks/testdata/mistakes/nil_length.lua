-- 4: attempt to get the length of "event.input.path", which is nil
-- check nothing
pi.on("tool_call", function(event)
  if #event.input.path > 100 then return { block = true, reason = "too long" } end
end)
