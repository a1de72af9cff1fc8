-- Redact: secrets in what tools give back are covered before the model and the
-- session file see them.
--
-- It covers what looks like a key, a token, a password or a private key, in the
-- text of a result and in its details, of failed calls too. It does not see what
-- you type yourself, and not the log file that the shell tool keeps of a long
-- output. It cannot know every secret: add the shapes of yours to PATTERNS.
--
-- Install: copy it to ~/.pi/agent/hooks/, or try it with pi --hook redact.lua.

local text = require "pi.text"

-- Regular expressions of your own secrets, such as "corp-[0-9a-f]{32}".
local PATTERNS = {}

local found

local function cover(value)
  if type(value) == "string" then
    local covered, count = text.redact(value, { patterns = PATTERNS })
    found = found + count
    return covered
  end
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, inner in pairs(value) do
    copy[key] = key == "data" and inner or cover(inner) -- data is that of an image
  end
  return copy
end

pi.on("tool_result", function(event, ctx)
  found = 0
  local content, details = cover(event.content), cover(event.details)
  if found == 0 then return end
  ctx.ui.notify(("secrets covered in the result of %s: %d"):format(event.tool_name, found), "warning")
  return { content = content, details = details }
end)
