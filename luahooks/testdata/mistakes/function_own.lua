-- 5: attempt to call "alowed", which is no function, did you mean "allowed"?
local function allowed(event) return event.tool_name == "read" end

pi.on("tool_call", function(event)
  if not alowed(event) then return { block = true, reason = "only reading" } end
end)
