-- Footer: in the place of the status line, as much as there is room for of the
-- model, how full the context is, the cost, the branch, and what other hooks say.
--
--   opus-4.6:medium · 68k of 200k · $0.068 · master · todo 1/3
--
-- In a narrow window the last of them go first. What you must know of the status
-- line, such as the mode that is on, pi still shows above it.
--
-- Install: pi hooks add example:footer, or try it with pi --hook footer.lua.

local text = require "pi.text"

-- The handlers find out what there is to say, so that nothing is left to do where it is drawn.
local facts, redraw = {}, function() end

local function short(n)
  return n < 1000 and tostring(n) or ("%.0fk"):format(n / 1000)
end

local function look(ctx)
  local usage, model = ctx.usage(), ctx.model
  facts = {
    model = model and model.id .. ":" .. ctx.thinking_level or "no model",
    context = usage.tokens and short(usage.tokens) .. " of " .. short(usage.context_window),
    cost = (usage.cost.total or 0) > 0 and ("$%.3f"):format(usage.cost.total),
  }
  redraw()
end

-- join puts as many parts into a row as there is room for, and of the first what there is.
local function join(parts, width)
  local row = text.fit(parts[1] or "", width)
  for i = 2, #parts do
    local longer = row .. " · " .. parts[i]
    if text.width(longer) > width then break end
    row = longer
  end
  return row
end

local function draw(width, surface, data)
  redraw = surface.request_render
  local parts = { facts.model }
  for _, part in ipairs { facts.context or "", facts.cost or "", data.branch or "" } do
    if part ~= "" then table.insert(parts, part) end
  end
  local keys = {}
  for key in pairs(data.statuses) do table.insert(keys, key) end
  table.sort(keys)
  for _, key in ipairs(keys) do table.insert(parts, data.statuses[key]) end
  return join(parts, width)
end

pi.on("session_start", function(_, ctx)
  ctx.ui.set_footer(function(...)
    return ctx.ui.theme.fg("dim", draw(...))
  end, { status = false })
  look(ctx)
end)

for _, event in ipairs { "turn_end", "agent_settled", "model_select", "thinking_level_select", "session_compact", "session_tree" } do
  pi.on(event, function(_, ctx) look(ctx) end)
end
