-- check 6: attempt to index "ctx", which is nil, with key "ui"; a tool's execute gets (params, ctx, call)
pi.tool{
  name = "look",
  description = "looks at a file",
  execute = function(id, params, onUpdate, ctx)
    ctx.ui.notify("looks")
    return "done"
  end,
}
