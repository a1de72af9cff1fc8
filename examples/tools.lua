-- Tools: choose in a list which tools the model has.
--
-- /toolset shows all tools, those of hooks too; Space marks, Enter takes the marked
-- ones. /toolset read grep takes these two. The choice is an entry of the session
-- (tools_choice): it is there again when the session is resumed, and each branch of the
-- conversation has its own. What --tools leaves out stays out.
--
-- Install: pi hooks add example:tools, or try it with pi --hook tools.lua.

local TYPE = "tools_choice"

-- What was chosen on this branch, or nil.
local function chosen(ctx)
  local entries = ctx.entries
  for i = #entries, 1, -1 do
    if entries[i].type == TYPE then return entries[i].tools end
  end
end

-- Makes a choice count, as far as these tools are there; returns those that are.
local function apply(names)
  pi.state.usual = pi.state.usual or pi.active_tools() -- for branches without a choice
  local there, active = {}, {}
  for _, tool in ipairs(pi.tools()) do there[tool.name] = true end
  for _, name in ipairs(names) do
    if there[name] then active[#active + 1] = name end
  end
  pi.set_active_tools(active)
  return active
end

-- What the user marks in the list of all tools; nil if nothing was chosen.
local function pick(ctx)
  local choices = {}
  for _, tool in ipairs(pi.tools()) do
    local from = tool.source ~= "program" and " (" .. tool.source .. ")" or ""
    choices[#choices + 1] = { value = tool.name, label = tool.name .. from, description = tool.description:match("^[^\n]*") }
  end
  return ctx.ui.select("Which tools does the model have?", choices, { multi = true, default = pi.active_tools() })
end

local function restore(ctx)
  local names = chosen(ctx) or pi.state.usual
  if names then apply(names) end
end

pi.on("session_start", function(_, ctx) restore(ctx) end)
pi.on("session_tree", function(_, ctx) restore(ctx) end)

pi.command("toolset", {
  description = "choose which tools the model has",
  complete = function()
    local names = {}
    for i, tool in ipairs(pi.tools()) do names[i] = tool.name end
    return names
  end,
  handler = function(ctx)
    local names = #ctx.args > 0 and ctx.args or pick(ctx)
    if names then
      names = apply(names)
      assert(ctx.save_entry { type = TYPE, tools = names })
    end
    local active = table.concat(pi.active_tools(), " ")
    return { status = active == "" and "the model has no tools" or "the model has " .. active }
  end,
})
