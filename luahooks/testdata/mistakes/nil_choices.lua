-- 6: bad argument #2 to 'select' (list of strings or of {value, label, description} expected, got nil): "choices" is nil
-- check nothing
pi.command("choose", {
  handler = function(ctx)
    local choices
    return ctx.ui.select("Which?", choices)
  end,
})
