-- Status line: model, how full the context is, what the session cost, and the
-- branch of the repository, below every answer.
--
--   openai/gpt-5.4:high  23% of 200k  $0.42  main*
--
-- A star says that there are changes. What is not known is left out.
--
-- Install: copy it to ~/.pi/agent/hooks/, or try it with pi --hook status_line.lua.

local git = require "pi.git"

local function model(ctx)
  local m = ctx.model
  return m.provider .. "/" .. m.id .. (m.reasoning and ":" .. ctx.thinking_level or "")
end

local function branch(cwd)
  local name = git.branch{ cwd = cwd } or ""
  local changes = name ~= "" and git.status{ cwd = cwd }
  return name .. (changes and #changes > 0 and "*" or "")
end

local function show(_, ctx)
  if not ctx.has_ui then return end
  local usage, parts = ctx.usage(), {}
  if ctx.model then table.insert(parts, model(ctx)) end
  if usage.percent and usage.context_window > 0 then
    table.insert(parts, ("%.0f%% of %.0fk"):format(usage.percent, usage.context_window / 1000))
  end
  local cost = usage.cost.total or 0
  if cost > 0 then table.insert(parts, ("$%.2f"):format(cost)) end
  local name = branch(ctx.cwd)
  if name ~= "" then table.insert(parts, name) end
  ctx.ui.set_status("status_line", table.concat(parts, "  "))
end

for _, event in ipairs{ "session_start", "turn_end", "model_select", "thinking_level_select" } do
  pi.on(event, show)
end
