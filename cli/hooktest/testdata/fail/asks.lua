pi.on("tool_call", function(event, ctx)
  ctx.ui.notify("about to ask")
  return { block = not ctx.ui.confirm("Sure?"), reason = "no" }
end)
