-- NAME: nothing is removed for good without a person's yes.
--
-- A handler of tool_call sees each tool call before it runs. It returns nothing where it has no
-- objection; with { block = true, reason = … } the call does not run, and the model reads the
-- reason. A handler that raises blocks too.

local sh = require "pi.sh"

-- What is wrong with a command, or nil. Edit this: it decides what is asked about. pi.sh takes
-- a command line apart, so that what stands behind a pipe or in $(…) is seen as well.
local function objection(line)
  local commands, message = sh.commands(line)
  if not commands then return message end
  for _, command in ipairs(commands) do
    if command.words[1] == "rm" then return "it removes files" end
  end
end

pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" then return end
  local why = objection(event.input.command)
  if not why then return end
  if not ctx.has_ui then
    return { block = true, reason = "a person has to allow this: " .. why }
  end
  if not ctx.ui.confirm("Run this? (" .. why .. ")", event.input.command) then
    return { block = true, reason = "the person did not allow it: " .. why }
  end
end)
