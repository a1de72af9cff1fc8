-- 3: ctx has no field "sessionManager", did you mean "session"?
pi.on("agent_end", function(event, ctx)
  local entries = ctx.sessionManager.getEntries()
  print(#entries)
end)
