-- 3: attempt to call "pi.hook", which is no function; handlers: pi.on(event, fn)
-- check nothing
pi.hook("tool_call", function(event)
  return { block = true, reason = "no" }
end)
