-- 3: ctx has no field "notify"; it is ctx.ui.notify
pi.on("session_start", function(event, ctx)
  ctx.notify("hello")
end)
