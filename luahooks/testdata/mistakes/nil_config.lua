-- 5: attempt to index "limits.write", which is nil, with key "seconds"
-- check nothing
local limits = { bash = { seconds = 10 } }
pi.on("tool_call", function(event)
  if limits.write.seconds > 5 then return end
end)
