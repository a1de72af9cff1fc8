-- 4: attempt to index "ctx", which is nil, with key "ui"; handlers of events get (event, ctx), those of commands and keys ctx alone
pi.command("hello", {
  handler = function(args, ctx)
    ctx.ui.notify("hello " .. args)
  end,
})
