pi.command("join", { handler = function(ctx) ctx.prompt("and this") end })
