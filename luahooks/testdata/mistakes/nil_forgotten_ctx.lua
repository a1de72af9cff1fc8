-- 3: attempt to index "ctx", which is nil, with key "has_ui"; a handler gets it as its second argument: function(event, ctx)
pi.on("tool_call", function(event)
  if not ctx.has_ui then return { block = true, reason = "nobody there" } end
end)
