-- Pop: go back to an earlier turn and keep what came of it as a summary.
--
--   /pop      asks which turn
--   /pop 3    goes back to the turn that is entry 3 of the session
--
-- From then on the model sees everything before that turn as it was, and
-- everything from it to now as one message with a summary. Where a compaction
-- (or an earlier pop) stands for what came before, that is summarised anew too.
-- Nothing is deleted: the session keeps every entry, the context is computed.
--
-- Install: pi hooks add example:pop, or try it with pi --hook pop.lua.

local llm = require "pi.llm"
local text = require "pi.text"

local TYPE = "stack_pop"
local LONGEST = 4000 -- characters of one tool result in a summary request

local PROMPT = [[You summarise a part of a conversation between a user and a coding agent, so that the
agent can go on with the summary in place of that part. Keep the goal, what was decided and why, what was
done, exact paths, names and error texts, and what is still open. Leave out what has no further use. Answer
with the summary only.]]

-- Ranges ---------------------------------------------------------------------
-- A range says that one summary stands for the entries from..to. Later ones win
-- where they overlap.

local function positions(entries)
  local at = {}
  for i, entry in ipairs(entries) do at[entry.id] = i end
  return at
end

local function compaction_range(entry, i, at)
  local kept = at[entry.first_kept_entry_id] or i
  return { from = 1, to = math.min(kept, i) - 1, entry = i, summary = entry.summary, compaction = true }
end

local function ranges(entries, at)
  local list = {}
  for i, entry in ipairs(entries) do
    if entry.type == "compaction" then
      table.insert(list, compaction_range(entry, i, at))
    elseif entry.type == TYPE and at[entry.turn] and at[entry.last] then
      if entry.before then
        table.insert(list, { from = 1, to = at[entry.turn] - 1, entry = i, summary = entry.before })
      end
      table.insert(list, { from = at[entry.turn], to = at[entry.last], entry = i, summary = entry.summary })
    end
  end
  return list
end

-- The range that stands for each entry, by position.
local function owners(list)
  local owner = {}
  for _, range in ipairs(list) do
    for i = range.from, range.to do owner[i] = range end
  end
  return owner
end

-- Context --------------------------------------------------------------------

local function summary_message(range)
  return { role = "user", content = "[Summary]\n\n" .. range.summary }
end

-- The messages that come from each entry; what comes from none stays behind the
-- message before it. Summaries of compactions are kept apart.
local function by_entry(messages)
  local lists, compactions, last = {}, {}, 0
  for _, message in ipairs(messages) do
    local i = message.entry_index
    if i and message.role == "compactionSummary" then
      compactions[i] = message
    else
      last = i or last
      lists[last] = lists[last] or {}
      table.insert(lists[last], message)
    end
  end
  return lists, compactions
end

pi.on("context", function(event)
  local entries, popped = event.entries, false
  for _, entry in ipairs(entries) do popped = popped or entry.type == TYPE end
  if not popped then return end

  local owner = owners(ranges(entries, positions(entries)))
  local lists, compactions = by_entry(event.messages)
  local result, told = lists[0] or {}, {}
  for i = 1, #entries do
    local range = owner[i]
    if not range then
      for _, message in ipairs(lists[i] or {}) do table.insert(result, message) end
    elseif not told[range] then
      told[range] = true
      table.insert(result, range.compaction and compactions[range.entry] or summary_message(range))
    end
  end
  return { messages = result }
end)

-- Summaries ------------------------------------------------------------------

local function message_of(entry)
  if entry.type == "message" then return entry.message end
  if entry.type == "custom_message" then return { role = "custom", content = entry.content } end
end

local function block_text(block)
  if block.type == "text" then return block.text end
  if block.type == "toolCall" then return "(calls " .. block.name .. ")" end
  if block.type == "image" then return "(an image)" end
  return ""
end

local function content_text(content)
  if type(content) == "string" then return content end
  local parts = {}
  for _, block in ipairs(content or {}) do table.insert(parts, block_text(block)) end
  return table.concat(parts, "\n")
end

local function transcript(entries, from, to)
  local parts = {}
  for i = from, to do
    local message = message_of(entries[i])
    if message and message.role == "bashExecution" then
      table.insert(parts, "[user ran] " .. message.command .. "\n" .. text.truncate(message.output, { bytes = LONGEST }))
    elseif message then
      table.insert(parts, "[" .. message.role .. "] " .. text.truncate(content_text(message.content), { bytes = LONGEST }))
    end
  end
  return table.concat(parts, "\n\n")
end

local function summarise(entries, from, to)
  local answer, err = llm.complete(nil, {
    system = PROMPT,
    messages = { { role = "user", content = transcript(entries, from, to) } },
  })
  if not answer then error("no summary: " .. err, 0) end
  local summary = content_text(answer.content)
  if summary == "" then error("no summary: the model said nothing", 0) end
  return summary
end

-- The command ----------------------------------------------------------------

-- The entries that begin a turn, without the last one.
local function turns(entries)
  local list = {}
  for i, entry in ipairs(entries) do
    if entry.type == "message" and entry.message.role == "user" then table.insert(list, i) end
  end
  table.remove(list)
  return list
end

local function beginning(s, length)
  local n = 0
  for at in s:gmatch("()[^\128-\191]") do -- where each character begins
    n = n + 1
    if n > length then return s:sub(1, at - 1) .. "..." end
  end
  return s
end

local function line_of(entries, i)
  local line = content_text(entries[i].message.content):gsub("%s+", " ")
  return "[" .. i .. "] " .. beginning(line, 40)
end

local function pick(ctx, entries, list)
  local lines = {}
  for _, i in ipairs(list) do table.insert(lines, line_of(entries, i)) end
  local line = ctx.ui.select("Pop to which turn?", lines)
  return line and tonumber(line:match("^%[(%d+)%]"))
end

local function known(list, wanted)
  for _, i in ipairs(list) do
    if i == wanted then return i end
  end
end

pi.command("pop", {
  description = "Go back to a turn and keep a summary of what came after it",
  handler = function(ctx)
    ctx.wait_for_idle()
    local entries = ctx.entries
    local list = turns(entries)
    if #list == 0 then return { status = "Need at least 2 turns" } end

    local turn
    if ctx.args[1] then
      turn = known(list, tonumber(ctx.args[1]))
      if not turn then error("no turn " .. ctx.args[1] .. "; /pop without a number lists them", 0) end
    else
      turn = pick(ctx, entries, list)
      if not turn then return end
    end

    local now = #entries
    local over = owners(ranges(entries, positions(entries)))[turn]
    local before
    if over and over.from < turn then before = summarise(entries, 1, turn - 1) end
    local summary = summarise(entries, turn, now)
    ctx.save_entry{ type = TYPE, turn = entries[turn].id, last = entries[now].id, before = before, summary = summary }
    ctx.rebuild_context()
    return { status = "Popped to turn " .. turn }
  end,
})
