-- Preset: model, thinking level, tools and instructions, chosen together by one name.
--
-- Write them into presets.json in the agent directory (~/.pi/agent); what a preset does
-- not say stays as it is:
--
--   {
--     "think": { "model": "anthropic/claude-opus-5-5", "thinking": "high" },
--     "look":  { "tools": ["read", "grep", "find", "ls"], "instructions": "Explain; change nothing." }
--   }
--
--   /preset            offers them; /preset look chooses one, /preset off goes back
--   alt+p              goes through them
--   pi --preset=look   begins with one
--
-- The choice is an entry of the session (preset_choice), so a resumed session has the
-- tools and instructions of its preset again; its model it has by itself.
--
-- Needs: presets.json in the agent directory.
--
-- Install: pi hooks add example:preset, or try it with pi --hook preset.lua.

local fs = require "pi.fs"
local json = require "pi.json"
local path = require "pi.path"

local TYPE = "preset_choice"
local FILE = path.join(pi.paths.agent, "presets.json")
local KEYS = { model = "string", thinking = "string", tools = "table", instructions = "string" }

pi.flag("preset", { description = "the preset to begin with", type = "string" })

-- What is wrong with a preset, or nil.
local function mistake(preset)
  if type(preset) ~= "table" then return "it is no JSON object" end
  for key, value in pairs(preset) do
    if not KEYS[key] then return ("there is no key %q, but model, thinking, tools and instructions"):format(key) end
    if type(value) ~= KEYS[key] then return key .. (key == "tools" and " is no list" or " is no text") end
  end
end

-- All presets by name, their names in order, and what is wrong with the file or nil. Read anew
-- each time: the file is small, and what was saved counts at once.
local function presets()
  local all, names, wrong = {}, {}, nil
  if fs.exists(FILE) then
    local decoded, message = json.decode(assert(fs.read(FILE)))
    if type(decoded) ~= "table" then return {}, {}, FILE .. ": " .. (message or "no JSON object") end
    all = decoded
  end
  for name, preset in pairs(all) do
    names[#names + 1] = name
    local what = mistake(preset)
    if what then wrong = ("%s: preset %q: %s"):format(FILE, name, what) end
  end
  table.sort(names)
  return all, names, wrong
end

local current, instructions -- the name of the preset in force, and its part of the system prompt

-- Tools that are not there, such as those of a hook that is gone, are left out.
local function set_tools(wanted)
  local there, names = {}, {}
  for _, tool in ipairs(pi.tools()) do there[tool.name] = true end
  for _, name in ipairs(wanted) do
    if there[name] then names[#names + 1] = name end
  end
  pi.set_active_tools(names)
end

-- Model and level of a preset; nil and a message if there is no such model.
local function set_model(preset, ctx)
  local ok, message = true, nil
  if preset.model then ok, message = ctx.set_model(preset.model) end
  if ok and preset.thinking then ok, message = ctx.set_thinking_level(preset.thinking) end
  return ok, message
end

-- Puts a preset in force, or with nil what was there before all presets. Of a resumed
-- session the model and its level are left as the session says.
local function apply(name, ctx, resumed)
  local all, names, wrong = presets()
  local preset = name and all[name]
  if name and wrong then return nil, wrong end
  if name and not preset then return nil, ("no preset %q; there are: %s"):format(name, table.concat(names, " ")) end
  local model = ctx.model
  local before = pi.state.before or {
    tools = pi.active_tools(), model = model and model.provider .. "/" .. model.id, thinking = ctx.thinking_level,
  }
  preset = preset or before
  if not resumed then
    local ok, message = set_model(preset, ctx)
    if not ok then return nil, ("%s: preset %q: %s"):format(FILE, name or "off", message) end
  end
  set_tools(preset.tools or before.tools)
  current, instructions, pi.state.before = name, preset.instructions, name and before
  ctx.ui.set_status("preset", name and "preset " .. name)
  return true
end

local function choose(name, ctx)
  local ok, message = apply(name, ctx)
  if not ok then return { status = message } end
  assert(ctx.save_entry { type = TYPE, name = name })
  return { status = name and "preset " .. name or "no preset" }
end

-- What was chosen last on this branch, or nil.
local function chosen(ctx)
  local entries = ctx.entries
  for i = #entries, 1, -1 do
    if entries[i].type == TYPE then return entries[i].name end
  end
end

pi.on("session_start", function(event, ctx)
  if event.reason == "new" and current then -- it stays, as the model does
    assert(ctx.save_entry { type = TYPE, name = current })
    return
  end
  local asked_for = event.reason == "startup" and pi.get_flag("preset") or nil
  local name = asked_for or chosen(ctx)
  if not name and not current then return end
  local ok, message = apply(name, ctx, not asked_for)
  if not ok then
    ctx.ui.notify(message, "warning")
  elseif asked_for then
    assert(ctx.save_entry { type = TYPE, name = name })
  end
end)

pi.on("before_agent_start", function()
  if instructions then return { sections = { preset = instructions } } end
end)

pi.command("preset", {
  description = "choose model, tools and instructions by one name",
  complete = function() return { "off", unpack(select(2, presets())) } end,
  handler = function(ctx)
    local name = ctx.args[1]
    if not name then
      local all, names, wrong = presets()
      if wrong then return { status = wrong } end
      if #names == 0 then return { status = "no presets; write them into " .. FILE } end
      if not ctx.has_ui then return { status = table.concat(names, "\n") } end
      local choices = { { value = "off", description = "as it was before" } }
      for _, each in ipairs(names) do
        local what = all[each]
        choices[#choices + 1] = { value = each, description = what.instructions or what.model or what.thinking }
      end
      name = ctx.ui.select("Which preset?", choices, { default = current or "off" })
      if not name then return end
    end
    if name == "off" then return current and choose(nil, ctx) or { status = "no preset" } end
    return choose(name, ctx)
  end,
})

pi.shortcut("alt+p", {
  description = "the next preset",
  handler = function(ctx)
    local _, names = presets()
    local next_one = names[1]
    for i, name in ipairs(names) do
      if name == current then next_one = names[i + 1] end -- behind the last: none
    end
    choose(next_one, ctx)
  end,
})
