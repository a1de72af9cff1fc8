-- 3: 'hash.sha1' takes at most 1 arguments, got 2; ctx.cwd.gsub(…) gives 2 values, and in parentheses gives the first: (ctx.cwd.gsub(…))
local hash = require "pi.hash"
pi.command("sum", { handler = function(ctx) return { status = hash.sha1(ctx.cwd:gsub("%s", "")) } end })
