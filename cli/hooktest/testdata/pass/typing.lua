-- What a user types while the agent works.
pi.command("say", { handler = function(ctx) return { status = "said " .. ctx.args[1] } end })
pi.command("ask", { handler = function(ctx)
  local outcome = ctx.prompt("and then?")
  ctx.ui.notify("the run has ended: " .. outcome.outcome)
end })
pi.shortcut("ctrl+alt+y", { handler = function(ctx) ctx.ui.notify("pressed") end })
local function later(what)
  return function(_, ctx)
    pi.async(function()
      pi.exec("sleep", { "0.3" })
      ctx.ui.notify("beside " .. what)
    end)
  end
end
pi.on("agent_settled", later("a run"))
pi.tool { name = "slow", description = "Leaves work behind", execute = function(_, ctx)
  later("a tool")(nil, ctx)
  return "done"
end }
pi.command("fails", { handler = function(ctx)
  later("a command")(nil, ctx)
  error("no")
end })
pi.command("field", { handler = function(ctx)
  return { status = type(ctx.ui.field {}.render(20)) }
end })
pi.on("session_start", function(event, ctx) ctx.ui.notify("began: " .. event.reason) end)
