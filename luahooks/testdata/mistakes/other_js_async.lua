-- 2: syntax error near 'function'; there is no async and await: what waits, waits
pi.on("session_start", async function(event, ctx)
  ctx.ui.notify("hello")
end)
