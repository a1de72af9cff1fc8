-- Permission gate: shell commands that can do more than look need the user's yes.
--
-- A command line is taken apart by pi.sh, not searched with patterns: what
-- stands behind a pipe, in $(…), in sh -c "…" or behind sudo is seen as well.
-- A line runs unasked only if every command in it is known to change nothing.
-- Everything else is asked about: commands that are not in the list, writing
-- into files, variables that are set, and whatever cannot be known before it
-- runs. Without a user it is blocked.
--
-- Install: pi hooks add example:permission_gate, or try it with pi --hook permission_gate.lua.

local sh = require "pi.sh"

-- Commands that change nothing, whatever their arguments are. Before you add one,
-- look for what it writes or runs: sort -o, find -delete, test -v 'a[$(rm x)]', git
-- with the programs that a repository's settings name.
local HARMLESS = {}
for name in ([[ : basename cat cd cmp comm cut df diff dirname du echo false grep head id ls nl od pwd
  readlink realpath seq stat tail tr true uname wc which whoami ]]):gmatch("%S+") do
  HARMLESS[name] = true
end

local READS = { ["<"] = true, ["<<"] = true, ["<<-"] = true, ["<<<"] = true }

local function writes(redirect)
  local joined = redirect.op == ">&" and redirect.path:find("^[%d%-]+$") -- as in 2>&1
  return not (READS[redirect.op] or joined or redirect.path == "/dev/null")
end

-- Why a command needs a yes, or nil. The first word counts and not the name: ls
-- is known, ./ls is not.
local function doubt(command)
  local program = command.words[1]
  if not program or #command.assigns > 0 then return "it sets variables, or only redirects" end
  for _, redirect in ipairs(command.redirects) do
    if writes(redirect) then return "it writes into " .. redirect.path end
  end
  if not HARMLESS[program] then return program .. " may change something" end
end

local function doubts(line)
  local commands, message = sh.commands(line)
  if not commands then return message end
  if commands.unknown then
    return ("what it does cannot be known before it runs: %s: %s"):format(commands.unknown_text, commands.unknown_why)
  end
  for _, command in ipairs(commands) do
    local why = doubt(command)
    if why then return why end
  end
end

-- Tools of hooks that run commands are looked at as well.
pi.on("tool_call", function(event, ctx)
  local line = event.input.command
  if event.tool_name ~= "bash" and (event.annotations.kind ~= "execute" or line == nil) then return end
  local why = doubts(line)
  if not why then return end
  if not ctx.has_ui then
    return { block = true, reason = "this command needs a user to allow it: " .. why }
  end
  if not ctx.ui.confirm("Run this command? (" .. why .. ")", line) then
    return { block = true, reason = "the user did not allow this command" }
  end
end)
