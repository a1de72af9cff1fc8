-- Review: a second model looks at what the first has changed, before the run ends.
--
-- When a run is done in which files were written or edited, an agent reads them and says
-- what is wrong. Its words go back to the model, which deals with them; what it changes then
-- is looked at once more, and that is all: twice at most for each prompt.
--
-- The reviewer only reads. It is the model of the session, or another one:
--
--   [hook.review]
--   model = "anthropic/claude-haiku-4-5"     in config.toml
--
-- Install: pi hooks add example:review, or try it with pi --hook review.lua.

local agent = require "pi.agent"
local git = require "pi.git"
local schema = require "pi.schema"
local text = require "pi.text"

if pi.hook.agent then return end -- nobody reviews what an agent changes for the model, but with the rest

local TIMES = 2                -- per prompt
local LONGEST = { bytes = 60000 } -- of the differences

local settings = pi.declare_settings(schema.object {
  model = schema.optional(schema.string "who reviews; the model of the session unless it is given"),
})

local verdict = schema.object {
  findings = schema.array(schema.string "a fault: where, what happens, and what would be right"),
}

local changed, is_changed = {}, {} -- paths, in the order in which they were changed, and as a set
local times = 0                    -- reviews since the prompt

local function take()
  local paths = changed
  changed, is_changed = {}, {}
  return paths
end

pi.on("agent_start", function()
  take()
  times = 0
end)

pi.on("tool_result", function(event)
  local path = event.input.path
  if event.is_error or event.tool_name ~= "write" and event.tool_name ~= "edit" or is_changed[path] then return end
  is_changed[path] = true
  table.insert(changed, path)
end)

-- What was asked, and what has changed since the last commit as far as git knows.
local function question(event, paths)
  local asked = "(unknown)"
  for _, message in ipairs(event.messages) do
    if message.role == "user" then asked = text.of(message) break end
  end
  local diff = git.diff { base = "HEAD", paths = paths } or ""
  return ("Review what was changed for this request:\n\n<request>\n%s\n</request>\n\nChanged files, which you can read as they are now:\n%s\n\n"
    .. "The difference to the last commit, where there is one:\n\n%s\n\nLook for faults that matter to who uses it: wrong results, lost "
    .. "data, what was asked for and is missing. Say nothing of taste. Without a fault, give no findings."):format(
    asked, table.concat(paths, "\n"), text.truncate(diff, LONGEST))
end

pi.on("agent_before_settle", function(event, ctx)
  if event.outcome ~= "completed" or #changed == 0 or times == TIMES then return end
  local paths = take()
  times = times + 1
  local result, err = agent.run {
    name = "review", prompt = question(event, paths), model = settings.model, schema = verdict,
    tools = { "read", "grep", "find", "ls" }, max_turns = 30, signal = ctx.signal,
  }
  if not result or not result.value then
    ctx.ui.notify("not reviewed: " .. (err or result.error or result.stop_reason), "warning")
    return
  end
  local findings = result.value.findings
  if #findings == 0 then
    ctx.ui.notify("reviewed: nothing is wrong with " .. table.concat(paths, ", "))
    return
  end
  return {
    continue = true,
    entries = { {
      type = "custom_message",
      custom_type = "review",
      content = "A reviewer has looked at what you changed:\n\n- " .. table.concat(findings, "\n- ")
        .. "\n\nDeal with what is right in that; where it is not, say why.",
      display = true,
    } },
  }
end)
