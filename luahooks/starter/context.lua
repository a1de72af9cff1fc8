-- NAME: long results of earlier tool calls leave the context, which makes requests shorter.
--
-- A handler of context sees the messages before each request and may return another list. The
-- session is not changed: the list is made anew each time, and without this hook it is whole.
-- Leave a call and its result together, and change old messages rarely: what stays the same at
-- the beginning is cheap to send again.

local KEEP = 10 -- messages at the end that stay as they are
local LONG = 2000 -- bytes of a result that is worth it

-- The message with a note in place of a long result.
local function shortened(message)
  local size = 0
  for _, block in ipairs(message.content) do size = size + #(block.text or "") end
  if size <= LONG then return message end
  message.content = { { type = "text", text = ("(%d bytes of an earlier result, left out)"):format(size) } }
  return message
end

pi.on("context", function(event)
  local messages = event.messages -- a copy, free to change
  for i = 1, #messages - KEEP do
    if messages[i].role == "toolResult" then messages[i] = shortened(messages[i]) end
  end
  return { messages = messages }
end)
