-- 4: select: unknown option "multiple", did you mean "multi"?
pi.command("choose", {
  handler = function(ctx)
    ctx.ui.select("Which?", { "a", "b" }, { multiple = true })
  end,
})
