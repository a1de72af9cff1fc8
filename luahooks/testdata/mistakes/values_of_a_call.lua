-- 6: 'hash.sha256' takes at most 1 arguments, got 2; text.truncate(…) gives 2 values, and in parentheses gives the first: (text.truncate(…))
local hash = require "pi.hash"
local text = require "pi.text"
pi.command("sum", {
  handler = function(ctx)
    return { status = hash.sha256(text.truncate(ctx.cwd, { bytes = 100 })) }
  end,
})
