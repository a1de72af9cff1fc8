-- Handoff: goes on in a new session with what matters of this one.
--
--   /handoff                     a new session that begins with a summary
--   /handoff now add the tests   the same, and this is its first prompt
--
-- The model writes the summary; at a terminal you see it in your editor first,
-- and can change it. An empty text calls it off. The session that you leave stays
-- as it is, and the new one names it as its parent.
--
-- Install: pi hooks add example:handoff, or try it with pi --hook handoff.lua.

local llm = require "pi.llm"
local text = require "pi.text"

local LONGEST = 3000 -- bytes of one message in the request

local PROMPT = [[You hand over the work of a coding agent to another one that has seen nothing of it. Write what
it needs: the goal, what was decided and why, what is done, which files matter (exact paths), what was tried
and failed, what comes next. Address it as "you". Leave out what it does not need. Answer with the text only.]]

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

local function transcript(messages)
  local parts = {}
  for _, message in ipairs(messages) do
    local words = plain(message.content or message.summary or message.output)
    table.insert(parts, "[" .. message.role .. "] " .. text.truncate(words, { bytes = LONGEST }))
  end
  return table.concat(parts, "\n\n")
end

local function summarise(messages, goal)
  local request = transcript(messages)
  if goal ~= "" then request = request .. "\n\nThe next task will be: " .. goal end
  local answer, err = llm.complete(nil, { system = PROMPT, messages = { { role = "user", content = request } } })
  if not answer then error("no handoff: " .. err, 0) end
  local summary = plain(answer.content)
  if summary:find("^%s*$") then error("no handoff: the model said nothing", 0) end
  return summary
end

pi.command("handoff", {
  description = "Go on in a new session with a summary of this one",
  handler = function(ctx)
    ctx.wait_for_idle()
    if #ctx.messages == 0 then return { status = "There is nothing to hand over" } end
    local goal = ctx.args_raw
    local summary = summarise(ctx.messages, goal)
    if ctx.has_ui then
      summary = ctx.ui.editor("Handoff to a new session", summary) or ""
      if summary:find("^%s*$") then return { status = "Handoff called off" } end
    end
    local result = assert(ctx.new_session{
      parent_session = ctx.session_file,
      setup = function(sm) sm.append_message{ role = "user", content = summary } end,
    })
    if result.cancelled then return { status = "A hook did not allow a new session" } end
    if goal ~= "" then return { prompt = goal } end
    return { status = "This is a new session; it knows the summary" }
  end,
})
