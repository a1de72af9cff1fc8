-- 4: attempt to call "table.unpack", which is no function; Lua 5.1 calls it unpack
pi.command("run", {
  handler = function(ctx)
    return table.unpack(ctx.args)
  end,
})
