-- check 3: "args" is ctx, which has no field "match"; handlers of events get (event, ctx), those of commands and keys ctx alone
pi.command("hello", {
  handler = function(args) return { status = args:match("%w+") } end,
})
