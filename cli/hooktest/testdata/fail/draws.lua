pi.command("draw", { handler = function(ctx)
  ctx.ui.custom { render = function() return { "a", { "b" } } end }
end })
