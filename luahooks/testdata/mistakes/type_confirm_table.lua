-- 4: bad argument #1 to confirm (string expected, got table)
-- check 4: bad argument #1 to 'confirm' (string expected, got table)
pi.on("tool_call", function(event, ctx)
  if not ctx.ui.confirm({ title = "Run it?", message = "really" }) then return { block = true } end
end)
