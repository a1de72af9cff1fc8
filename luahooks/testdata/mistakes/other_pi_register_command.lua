-- 2: pi has no field "registerCommand", did you mean "command"?
pi.registerCommand("hello", { handler = function(args, ctx) ctx.ui.notify("hello", "info") end })
