-- check 6: "params" is ctx, which has no field "path"; a tool's execute gets (params, ctx, call)
pi.tool{
  name = "look",
  description = "looks at a file",
  execute = function(id, params, onUpdate, ctx)
    return params.path
  end,
}
