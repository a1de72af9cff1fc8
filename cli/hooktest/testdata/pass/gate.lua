-- Blocks rm without a yes.
local words = require "lib.words"

pi.flag("strict", { type = "boolean", default = false })

pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" or not event.input.command:find(words.dangerous) then return end
  if pi.get_flag("strict") then return { block = true, reason = "strict" } end
  if not ctx.has_ui then return { block = true, reason = "needs a person" } end
  if not ctx.ui.confirm("Run?", event.input.command) then return { block = true, reason = "not allowed" } end
end)
