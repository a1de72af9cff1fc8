-- Custom compaction: a summary of your own kind when the context is shortened.
--
-- It asks for five headings that a coding agent goes on well from, gives the
-- lists of touched files itself (they are known, no model has to remember them),
-- and keeps what a summary before it said. If the model fails or says nothing,
-- pi makes its usual summary.
--
-- Install: pi hooks add example:custom_compaction, or try it with pi --hook custom_compaction.lua.

local llm = require "pi.llm"
local text = require "pi.text"

local MODEL = nil    -- "provider/id" of a cheaper model, or nil for the current one
local LONGEST = 2000 -- bytes of one message in the request

local PROMPT = [[You condense the work of a coding agent so that it can go on with nothing but your text.
Write these parts, each with its heading, and nothing else:
## Goal
## Decisions and their reasons
## Done
## State of the code (paths, names, commands, error texts, exactly)
## Next steps]]

local function plain(content)
  if type(content) == "string" then return content end
  local parts = {}
  for _, block in ipairs(content or {}) do
    if block.type == "text" then
      table.insert(parts, block.text)
    elseif block.type == "toolCall" then
      table.insert(parts, "(calls " .. block.name .. ")")
    end
  end
  return table.concat(parts, "\n")
end

local function add_messages(parts, messages)
  for _, message in ipairs(messages or {}) do
    local words = plain(message.content or message.summary or message.output)
    table.insert(parts, "[" .. message.role .. "] " .. text.truncate(words, { bytes = LONGEST }))
  end
end

local function request(event)
  local parts, preparation = {}, event.preparation
  if preparation.previous_summary then
    table.insert(parts, "[what was before]\n" .. preparation.previous_summary)
  end
  add_messages(parts, preparation.messages_to_summarize)
  add_messages(parts, preparation.turn_prefix_messages)
  if event.custom_instructions then
    table.insert(parts, "The user asks to take care of this: " .. event.custom_instructions)
  end
  return { system = PROMPT, messages = { { role = "user", content = table.concat(parts, "\n\n") } } }
end

local function file_list(ops)
  local parts = {}
  for _, kind in ipairs{ "read", "written", "edited" } do
    if #ops[kind] > 0 then table.insert(parts, "- " .. kind .. ": " .. table.concat(ops[kind], ", ")) end
  end
  return #parts > 0 and "\n\n## Files\n" .. table.concat(parts, "\n") or ""
end

pi.on("session_before_compact", function(event, ctx)
  local answer, err = llm.complete(MODEL, request(event), { signal = event.signal })
  local summary = answer and plain(answer.content) or ""
  if summary:find("^%s*$") then
    ctx.ui.notify("no summary of your own: " .. (err or "the model said nothing"), "warning")
    return
  end
  return { compaction = {
    summary = summary .. file_list(event.preparation.file_ops),
    details = { by = pi.hook.name },
  } }
end)
