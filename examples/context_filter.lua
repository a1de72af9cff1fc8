-- Context filter: a prompt that begins with "aside:" is answered, and forgotten
-- with the next prompt.
--
-- For a question on the way that the rest of the conversation should not pay
-- for. The aside, its answer and its tool calls leave the context together, so a
-- call is never without its result. Nothing is written: the session keeps the
-- aside, the context is computed anew for each request, and without this hook
-- it is all there again.
--
-- Install: pi hooks add example:context_filter, or try it with pi --hook context_filter.lua.

local function first_text(message)
  if type(message.content) == "string" then return message.content end
  local block = message.content[1]
  return block and block.text or ""
end

-- Where each turn of the user begins; what comes before the first is left alone.
local function prompts(messages)
  local list = {}
  for i, message in ipairs(messages) do
    if message.role == "user" and message.entry_id then table.insert(list, i) end
  end
  return list
end

pi.on("context", function(event)
  local messages = event.messages
  local starts = prompts(messages)
  local dropped = {}
  for n = 1, #starts - 1 do -- the last one is being answered
    if first_text(messages[starts[n]]):lower():find("^%s*aside:") then
      for i = starts[n], starts[n + 1] - 1 do dropped[i] = true end
    end
  end
  if not next(dropped) then return end
  local kept = {}
  for i, message in ipairs(messages) do
    if not dropped[i] then table.insert(kept, message) end
  end
  return { messages = kept }
end)
