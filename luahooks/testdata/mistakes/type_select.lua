-- 4: bad argument #2 to 'select' (list of strings or of {value, label, description} expected, got string)
pi.command("choose", {
  handler = function(ctx)
    return ctx.ui.select("Which?", "a, b")
  end,
})
