-- 3: the event session_start has no field "session", did you mean "session_id"?
pi.on("session_start", function(event, ctx)
  ctx.ui.set_title(event.session)
end)
