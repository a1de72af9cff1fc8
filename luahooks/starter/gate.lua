-- NAME: bash asks the user before it runs rm, unlink, shred or find -delete, or a line whose
-- programs cannot be known beforehand. What other programs remove (git clean, a script) is not seen.
--
-- A handler of tool_call sees each tool call before it runs. It returns nothing where it has no
-- objection; with { block = true, reason = … } the call does not run, and the model reads the
-- reason. A handler that raises blocks too.

local sh = require "pi.sh"

-- The programs that are asked about. Edit this.
local DANGEROUS = { rm = true, unlink = true, shred = true }

-- What is wrong with a command, or nil. command.name is the program without its directory, also
-- where it is written as /bin/rm or \rm.
local function objection(command)
  if DANGEROUS[command.name] then return command.name .. " removes files" end
  for _, arg in ipairs(command.args) do
    if command.name == "find" and arg == "-delete" then return "find -delete removes files" end
  end
end

-- pi.sh takes a line apart, so that what stands behind a pipe, in $(…) or after sudo is seen as
-- well. unknown is true where other programs may run than those it lists, as in $X file.
local function objection_to_line(line)
  local commands, message = sh.commands(line)
  if not commands then return message end
  for _, command in ipairs(commands) do
    local why = objection(command)
    if why then return why end
  end
  if commands.unknown then return "what it runs cannot be known beforehand" end
end

pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" then return end
  local why = objection_to_line(event.input.command)
  if not why then return end
  if not ctx.has_ui then
    return { block = true, reason = "a user has to allow this: " .. why }
  end
  if not ctx.ui.confirm("Run this? (" .. why .. ")", event.input.command) then
    return { block = true, reason = "the user did not allow it: " .. why }
  end
end)
