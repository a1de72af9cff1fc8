-- 4: bad argument #2 to 'notify' (info, warning or error expected, got "success")
-- check 4: notify: level must be info or warning or error, not "success"
pi.on("session_start", function(event, ctx)
  ctx.ui.notify("ready", "success")
end)
