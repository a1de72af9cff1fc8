-- Prune: takes the output of old tool calls out of the context.
--
-- The last 10 large outputs stay. When 10 more have come, the older ones are
-- replaced by a line that says so; the model can run the tool again.
--
-- The edits are lasting (context_edit entries) and come in batches. A context
-- handler could hide the same outputs without an entry, but it would hide one
-- more in every request, and the provider would have to read the conversation
-- anew each time instead of from its cache. The session file keeps every output
-- as it was.
--
-- Install: pi hooks add example:prune, or try it with pi --hook prune.lua.

local KEEP = 10   -- outputs that always stay
local BATCH = 10  -- outputs that must be there beyond those
local LARGE = 500 -- bytes; a smaller output is not worth an edit
local GONE = "[old output of %s removed; run it again if you need it]"

local function size(content)
  local bytes = 0
  for _, block in ipairs(content) do
    bytes = bytes + (block.type == "text" and #block.text or LARGE)
  end
  return bytes
end

-- The large outputs on the branch that no edit has touched, oldest first.
local function outputs(entries)
  local edited, list = {}, {}
  for _, entry in ipairs(entries) do
    if entry.type == "context_edit" then edited[entry.target_id] = true end
  end
  for _, entry in ipairs(entries) do
    local message = entry.type == "message" and entry.message
    if message and message.role == "toolResult" and not edited[entry.id] and size(message.content) >= LARGE then
      table.insert(list, { id = entry.id, tool = message.tool_name })
    end
  end
  return list
end

pi.on("turn_end", function(_, ctx)
  local list = outputs(ctx.entries)
  if #list < KEEP + BATCH then return end
  local edits = {}
  for i = 1, #list - KEEP do
    table.insert(edits, {
      type = "context_edit",
      target_id = list[i].id,
      replacement = { content = GONE:format(list[i].tool) },
    })
  end
  return { entries = edits }
end)
