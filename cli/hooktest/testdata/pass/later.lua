-- Answers that come later, and times that pass.
local llm = require "pi.llm"

local asked = {}

pi.command("ask", { description = "Asks, and waits for the answer", handler = function(ctx)
  asked.one = pi.promise()
  local answer, why = asked.one.wait { timeout = 60000 }
  return { status = tostring(answer or why) }
end })

pi.command("ask-later", { description = "Asks, and does not wait", handler = function(ctx)
  pi.async(function()
    asked.two = pi.promise()
    local answer, why = asked.two.wait { timeout = 60000 }
    ctx.ui.notify("heard " .. tostring(answer or why))
  end)
end })

pi.command("answer", { description = "Answers", handler = function(ctx)
  return { status = tostring(asked.two.resolve(ctx.args[1])) }
end })

pi.command("hurry", { description = "Has a minute", handler = function(ctx)
  local minute = pi.signal { timeout = 60000 }
  local either = pi.signal { any = { minute, pi.signal() } }
  either.on_cancel(function() ctx.ui.notify("over: " .. either.reason()) end)
end })

pi.command("consult", { description = "Asks a model", handler = function()
  local answer, why = llm.complete(nil, { messages = { { role = "user", content = "?" } } }, { timeout = 5000 })
  return { status = answer and answer.content[1].text or why }
end })
