-- 4: attempt to index "event.input.path", which is nil, with key "find"
-- check nothing
pi.on("tool_call", function(event)
  if event.input.path:find("secret", 1, true) then return { block = true, reason = "secret" } end
end)
