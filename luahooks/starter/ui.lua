-- NAME: a row above the prompt says how full the context is, drawn for the width that there is;
-- /NAME opens a panel with the prompts so far, and Enter takes one into the line.
--
-- A function given to set_widget, set_header or set_footer is called with the width, and again
-- when the window changes; surface.request_render() says that there is something new. A component
-- has render, which returns lines, and handle_input, which gets keys by their names. Colours
-- come from the theme, so they fit the user's terminal.

local surface, percent = nil, 0 -- of the row; how full

local function row(ctx, width)
  local cells = math.max(0, width - 15)
  local full = math.min(cells, math.floor(cells * percent / 100 + 0.5))
  local bar = ctx.ui.theme.fg("accent", ("="):rep(full)) .. ctx.ui.theme.fg("dim", ("-"):rep(cells - full))
  return { ("context %3d%% [%s]"):format(percent, bar) }
end

pi.on("session_start", function(_, ctx)
  ctx.ui.set_widget("NAME", function(width, drawn)
    surface = drawn
    return row(ctx, width)
  end)
end)

pi.on("turn_end", function(event)
  percent = math.floor(event.usage.percent or 0)
  if surface then surface.request_render() end
end)

local function prompts(ctx)
  local list = {}
  for _, message in ipairs(ctx.messages) do
    local first = message.role == "user" and message.content[1]
    if first and first.type == "text" then table.insert(list, (first.text:gsub("%s+", " "))) end
  end
  return list
end

-- A panel in which one of several texts is chosen; wait = true returns what close got.
local function choose(ctx, list)
  local at = #list
  return ctx.ui.custom {
    wait = true,
    render = function()
      local lines = { ctx.ui.theme.bold("Prompts of this session") }
      for i, line in ipairs(list) do
        table.insert(lines, i == at and ctx.ui.theme.fg("accent", "> " .. line) or "  " .. line)
      end
      return lines
    end,
    handle_input = function(key, handle)
      if key == "up" then at = math.max(1, at - 1) end
      if key == "down" then at = math.min(#list, at + 1) end
      if key == "enter" then handle.close(list[at]) else handle.request_render() end
    end,
  }
end

pi.command("NAME", {
  description = "Take an earlier prompt into the line",
  handler = function(ctx)
    local list = prompts(ctx)
    if #list == 0 then return { status = "no prompts yet" } end
    if not ctx.has_ui then return { status = table.concat(list, "\n") } end
    local chosen = choose(ctx, list)
    if chosen then ctx.ui.set_editor_text(chosen) end
  end,
})
