-- Members that the objects of several programs have. The file is called with c, which
-- base.lua describes, and returns a table of functions that make members:
--
--   m.session_manager(plain)   ctx.session_manager; plain(v, branch) restyles entries
--   m.model_registry()         ctx.model_registry
--   m.ui()                     ctx.ui
--   m.drawn(x, ...)            what a renderer returned, as lines; it may be a component
--   m.theme(ours)              what renderers are given to paint with; ours may be nil
--   m.commands, m.tools, m.messages, m.rest, m.guards   members of the object, see there
--   m.context                  members of ctx that are functions

local c = ...
local pi, host = c.pi, c.host
local m = {}

-- Calls of ours give nil and a message where those of the sources raise.
local function must(value, message)
  return c.checked(value, message)
end

-- Where ours gives nil and a message, m.one gives nil.
function m.one(value) return value end

-- Programs

-- exec(command, args, opts): a program that cannot be started is one that failed.
function m.exec(command, args, opts)
  local result, message = pi.exec(command, args, opts)
  return result or { stdout = "", stderr = message, code = 1, killed = false }
end

-- Components: tables with render(width) and handle_input(data). A function that names
-- one parameter more than that gets the table itself first.

local function method(component, key, parameters)
  local fn = component[key]
  if type(fn) ~= "function" then return nil end
  if host.parameters(fn) <= parameters then return fn end
  return function(...) return fn(component, ...) end
end

-- drawn is what a renderer returned as what ours expects.
function m.drawn(x, width)
  if type(x) ~= "table" or type(x.render) ~= "function" then return x end
  return method(x, "render", 1)(width)
end

-- Colours: the sources have names of their own, which are values and stay in a translation.

-- What the sources paint text with, by what it is for; false leaves text as it is.
local colours = {
  text = false, borderAccent = "accent", borderMuted = "border",
  thinkingText = "thinking", userMessageText = "user", customMessageText = false, customMessageLabel = "accent",
  toolTitle = "tool_title", toolOutput = "tool_output", bashMode = "success",
  mdHeading = "accent", mdLink = "link", mdLinkUrl = "muted", mdCode = "code", mdCodeBlock = "code", mdCodeBlockBorder = "border",
  mdQuote = "muted", mdQuoteBorder = "border", mdHr = "border", mdListBullet = "accent",
  toolDiffAdded = "success", toolDiffRemoved = "error", toolDiffContext = "dim",
  syntaxComment = "dim", syntaxKeyword = "accent", syntaxFunction = "link", syntaxVariable = "user", syntaxString = "success",
  syntaxNumber = "warning", syntaxType = "code", syntaxOperator = "muted", syntaxPunctuation = "muted",
  thinkingOff = "dim", thinkingMinimal = "muted", thinkingLow = "link", thinkingMedium = "accent", thinkingHigh = "warning",
  thinkingXhigh = "error", thinkingMax = "error",
  selectedBg = "border", userMessageBg = "user", customMessageBg = "muted",
  toolPendingBg = "dim", toolSuccessBg = "success", toolErrorBg = "error",
}

local theme_seen -- ours, as a renderer was given it

local function our_theme() return theme_seen or c.ctx().ui.theme end

-- colour is our name for one of the sources; for one that nobody has it is the nearest, which
-- the log says once.
local function colour(name)
  if type(name) ~= "string" or colours[name] ~= nil then return colours[name] end
  local known = our_theme().names()
  for _, own in ipairs(known) do
    if own == name then return own end
  end
  for _, own in ipairs(known) do
    if own:gsub("_", "") == name:gsub("_", ""):lower() then colours[name] = own return own end
  end
  for theirs in pairs(colours) do known[#known + 1] = theirs end
  local near = host.nearest(name, known)
  local own = colours[near]
  if own == nil then own = near end
  colours[name] = own
  pi.log(("theme: there is no colour %q; it is painted as %q"):format(name, near))
  return own
end

-- painter makes theme.fg and theme.bg.
local function painter(ours)
  return function(name, text)
    local own = colour(name)
    if own == false then return text end
    return our_theme()[ours](own or name, text)
  end
end

local theme = c.layer("theme", { fg = painter("fg"), bg = painter("bg") }, {
  get_fg_ansi = "use theme.fg", get_bg_ansi = "use theme.bg", get_color_mode = "theme paints for the terminal at hand",
}, our_theme)

-- m.theme is the theme of the sources over ours.
function m.theme(ours)
  theme_seen = ours or theme_seen
  return theme
end

-- by_width is what is shown at a place, as ours expects it: lines as they are, of a component or
-- a function that makes one a function that draws for the width.
local function by_width(content)
  local surface, around, on_branch = nil, { statuses = {}, providers = 0 }, {}
  if type(content) == "function" then
    content = content({ request_render = function() if surface then surface.request_render() end end }, m.theme(), {
      get_git_branch = function() return around.branch end,
      get_extension_statuses = function() return around.statuses end,
      get_available_provider_count = function() return around.providers end,
      on_branch_change = function(fn)
        on_branch[fn] = true
        return function() on_branch[fn] = nil end
      end,
    })
  end
  if type(content) == "string" then return { content } end
  if type(content) ~= "table" or type(content.render) ~= "function" then return content end
  local source = method(content, "render", 1)
  return function(width, now, data)
    local before = around.branch
    surface, around = now, data
    if before ~= data.branch then
      for fn in pairs(on_branch) do fn() end
    end
    local lines = source(width)
    return lines
  end
end

-- tui.Text(text, padding_x?, padding_y?): a component of a text.
local function text_component(text, padding_x, padding_y)
  padding_x, padding_y = padding_x or 1, padding_y or 1
  local component = {}
  function component.set_text(changed) text = changed end
  function component.render(width)
    local lines, indent = {}, (" "):rep(padding_x)
    for _ = 1, padding_y do lines[#lines + 1] = "" end
    for _, line in ipairs(require("pi.text").wrap(text, math.max(1, width - 2 * padding_x))) do
      lines[#lines + 1] = indent .. line
    end
    for _ = 1, padding_y do lines[#lines + 1] = "" end
    return lines
  end
  return component
end

local of_text = 'use require "pi.text"'
local of_fields = "use ctx.ui.field"

m.tui = c.layer("tui", { Text = text_component },
  setmetatable({
    visible_width = of_text, truncate_to_width = of_text, wrap_text_with_ansi = of_text,
    matches_key = "handle_input gets the bytes of a key",
    SelectList = "use ctx.ui.list", Input = of_fields, Editor = of_fields,
  }, { __index = function() return "return lines from render" end }))

-- Keys

local sequences = {
  up = "\27[A", down = "\27[B", right = "\27[C", left = "\27[D", enter = "\r", esc = "\27", tab = "\t",
  ["shift+tab"] = "\27[Z", backspace = "\127", delete = "\27[3~", home = "\27[H", ["end"] = "\27[F",
  pageup = "\27[5~", pagedown = "\27[6~", insert = "\27[2~", space = " ",
  f1 = "\27OP", f2 = "\27OQ", f3 = "\27OR", f4 = "\27OS", f5 = "\27[15~", f6 = "\27[17~", f7 = "\27[18~", f8 = "\27[19~",
  f9 = "\27[20~", f10 = "\27[21~", f11 = "\27[23~", f12 = "\27[24~",
}

-- bytes are what a terminal sends for a key.
local function bytes(key, text)
  if text and text ~= "" then return text end
  if sequences[key] then return sequences[key] end
  local letter = key:match("^ctrl%+(%l)$")
  if letter then return string.char(letter:byte() - 96) end
  local rest = key:match("^alt%+(.+)$")
  if rest then return "\27" .. bytes(rest) end
  return key
end

-- Dialogs and what is shown

-- show puts a component on the screen: ours knows two functions of it.
local function show(ui, component, more)
  if type(component) ~= "table" then return ui.custom(component) end
  local render, input = method(component, "render", 1), method(component, "handle_input", 1)
  local opts = { render = render and function(width, handle) return more.render(render, width, handle) end }
  if input then
    opts.handle_input = function(key, _, o)
      input(bytes(key, o.text))
      return true -- the component has every key, Esc too
    end
  end
  opts.wait = more.wait
  return ui.custom(opts)
end

-- custom(component): a handle, or nil without a person.
local function custom_component(ui, component)
  return show(ui, component, { render = function(render, width) return render(width) end })
end

-- custom(function(tui, theme, keybindings, done) return component end): what done got.
local function custom_factory(ui, source)
  if not c.ctx().has_ui then return nil end
  local handle, finished, value
  local function done(v)
    if finished then return end
    finished, value = true, v
    if handle then handle.close(v) end
  end
  local tui = { request_render = function() if handle then handle.request_render() end end }
  local n, component = host.parameters(source), nil
  if n == 1 then component = source(done)
  elseif n == 3 then component = source(tui, m.theme(), done)
  else component = source(tui, m.theme(), {}, done) end
  if finished then return value end
  return show(ui, component, { wait = true, render = function(render, width, now)
    handle = now
    if finished then handle.close(value) end
    return render(width)
  end })
end

local places = { aboveEditor = "above", belowEditor = "below" }

-- ui is ctx.ui. no_ui are names without a counterpart; more are members that one program has.
function m.ui(no_ui, more)
  local function ours() return c.ctx().ui end
  local function strings(options)
    for i, option in ipairs(type(options) == "table" and options or {}) do
      if type(option) ~= "string" then error(("select: option %d is no string but a %s"):format(i, type(option))) end
    end
    return options
  end
  -- set makes a function that shows lines: they may come from a component, or from a
  -- function that makes one.
  local function set(name, keyed)
    return function(...)
      local key, content
      if keyed then key, content = ... else content = ... end
      local lines = by_width(content)
      if not keyed then return ours()[name](lines) end
      local opts = c.renamed((select(3, ...)), { placement = "place" })
      if opts then opts.place = places[opts.place] or opts.place end
      return ours()[name](key, lines, opts)
    end
  end
  return c.layer("ctx.ui", m.joined({
    select = function(title, options, opts) return (ours().select(title, strings(options), opts)) end,
    input = function(...) return (ours().input(...)) end,
    editor = function(...) return (ours().editor(...)) end,
    custom = function(x, _)
      if type(x) == "function" then return custom_factory(ours(), x) end
      return custom_component(ours(), x)
    end,
    theme = theme, set_widget = set("set_widget", true), set_header = set("set_header"), set_footer = set("set_footer"),
  }, more or {}), no_ui, ours)
end

-- The session and the models

local read_only = {
  "append_message", "append_entry", "append_custom_entry", "append_custom_message_entry", "append_compaction",
  "append_branch_summary", "append_session_info", "append_model_change", "append_thinking_level_change",
  "append_label_change", "branch", "branch_with_summary", "reset_leaf", "set_session_file", "new_session",
  "create_branched_session", "save_message", "save_compaction",
}

function m.session_manager(plain)
  plain = plain or function(v) return v end
  local function session() return c.ctx().session end
  local function nodes(list)
    for _, node in ipairs(list) do
      node.entry = plain(node.entry)
      nodes(node.children)
    end
    return list
  end
  local own = {
    get_entries = function() return plain(session().entries()) end,
    get_branch = function(from) return plain((session().branch(from)) or {}) end,
    get_entry = function(id) return plain((session().entry(id))) end,
    get_session_file = function() return session().file() end,
    get_tree = function() return nodes(session().tree()) end,
    get_label = function(id) return session().label(id) end,
    get_leaf_id = function() return session().leaf_id() end,
    get_leaf_entry = function()
      local id = session().leaf_id()
      return id and plain((session().entry(id))) or nil
    end,
    get_session_id = function() return session().id() end,
    get_session_name = function() return session().name() end,
    get_cwd = function() return c.ctx().cwd end,
    get_header = function() return session().header() end,
    get_session_dir = function()
      local file = session().file()
      return file and require("pi.path").dir(file) or nil
    end,
  }
  for _, name in ipairs(read_only) do
    own[name] = function() error("the session is read-only here; use pi.send_message or pi.append_entry") end
  end
  return c.layer("ctx.session_manager", own, {}, function() return session() end)
end

function m.model_registry()
  local function available() return c.ctx().available_models() end
  return c.layer("ctx.model_registry", {
    get_api_key = function(model) return (c.ctx().resolve_api_key(model)) end,
    get_available_models = available, get_available = available,
    find = function(provider, id) return (c.ctx().find_model(provider, id)) end,
    get_all = function() return c.ctx().models() end,
  }, {})
end

-- set_model(model) or set_model(provider, id): true, or nil.
local function set_model(model, id)
  if type(model) ~= "string" and model ~= nil and id == nil then
    return (c.ctx().set_model(model.provider, model.id))
  end
  return (c.ctx().set_model(model, id))
end

local function set_thinking_level(level) return (c.ctx().set_thinking_level(level)) end

-- Functions that ctx has beside ours.
m.context = {
  exec = m.exec,
  find_model = function(provider, id) return (c.ctx().find_model(provider, id)) end,
  available_models = function() return c.ctx().available_models() end,
  resolve_api_key = function(model) return (c.ctx().resolve_api_key(model)) end,
  save_entry = function(entry) return must(c.ctx().save_entry(entry)) end,
  set_model = set_model, set_thinking_level = set_thinking_level,
  has_queued_messages = function() return c.ctx().has_pending_messages() end,
  get_context_usage = function()
    local usage = c.ctx().usage()
    return { tokens = usage.tokens, context_window = usage.context_window, percent = usage.percent }
  end,
  compact = function(opts) return c.ctx().compact(c.renamed(opts, { custom_instructions = "instructions" })) end,
  get_system_prompt = function() return c.ctx().system_prompt() end,
  wait_for_idle = function() return must(c.ctx().wait_for_idle()) end,
  new_session = function(opts) return must(c.ctx().new_session(opts)) end,
  branch = function(id) return must(c.ctx().branch(id)) end,
  fork = function(id) return must(c.ctx().branch(id)) end,
  navigate_tree = function(id, opts) return must(c.ctx().navigate_tree(id, opts)) end,
  switch_session = function(path) return must(c.ctx().switch_session(path)) end,
  reload = function() return must(c.ctx().reload()) end,
}

-- Commands, keys and flags

-- words makes the function that completes arguments: items may be {value, label}.
local function words(source)
  return source and function(prefix)
    local list = {}
    for i, item in ipairs(source(prefix) or {}) do list[i] = type(item) == "table" and item.value or item end
    return list
  end
end

-- register_command(name, {description, handler(args, ctx)}): what the handler returns is
-- dropped.
local function register_command(name, opts)
  if type(opts) ~= "table" then return pi.command(name, opts) end
  local source, mapped = opts.handler, c.renamed(opts, { get_argument_completions = false })
  mapped.complete = opts.complete or words(opts.get_argument_completions)
  if type(source) == "function" then
    mapped.handler = function(ctx)
      local shown = c.command_context(ctx)
      source(ctx.args_raw:match("^%s*(.-)%s*$"), shown)
    end
  end
  return pi.command(name, mapped)
end

-- command(name, {description, handler(ctx), complete?}): what it returns is ours.
local function command(name, opts)
  if type(opts) ~= "table" then return pi.command(name, opts) end
  local source, mapped = opts.handler, c.renamed(opts, {})
  if type(source) == "function" then
    mapped.handler = function(ctx) return (source(c.command_context(ctx))) end
  end
  return pi.command(name, mapped)
end

local function register_shortcut(key, opts)
  if type(opts) ~= "table" then return pi.shortcut(key, opts) end
  local source, mapped = opts.handler, c.renamed(opts, {})
  if type(source) == "function" then
    mapped.handler = function(ctx) source(c.command_context(ctx)) end
  end
  return pi.shortcut(key, mapped)
end

local function flag_name(name)
  return type(name) == "string" and name:gsub("^%-%-", "", 1) or name
end

m.commands = {
  command = command, register_command = register_command, register_shortcut = register_shortcut,
  register_flag = function(name, opts) return pi.flag(flag_name(name), opts) end,
  get_flag = function(name) return pi.get_flag(flag_name(name)) end,
  get_commands = function() return pi.commands() end,
}

-- Tools

-- Renderers of both orders, (x, theme) and (x, options, theme), find what they want in the
-- second argument.
local function drawing(source)
  return source and function(x, opts, ours)
    local paints = m.theme(ours)
    local both = setmetatable({ expanded = opts.expanded, width = opts.width, is_partial = opts.partial == true }, { __index = paints })
    return m.drawn(source(x, both, host.parameters(source) == 2 and both or paints), opts.width)
  end
end

-- register_tool{…, execute(id, params, signal, on_update, ctx)}.
local function register_tool(opts)
  if type(opts) ~= "table" then return pi.tool(opts) end
  local source, mapped = opts.execute, c.renamed(opts, {})
  if type(source) == "function" then
    mapped.execute = function(params, ctx, call)
      return (source(call.id, params, call.signal, call.update, c.context(ctx)))
    end
  end
  mapped.render_call, mapped.render_result = drawing(opts.render_call), drawing(opts.render_result)
  return pi.tool(mapped)
end

m.tools = {
  register_tool = register_tool,
  get_active_tools = function() return pi.active_tools() end,
  get_all_tools = function() return pi.tools() end,
  set_active_tools = function(names) return pi.set_active_tools(names) end,
}

-- Messages and entries

local delivery = { followUp = "follow_up", nextTurn = "next_turn" }

local function delivered(opts)
  if type(opts) ~= "table" or delivery[opts.deliver_as] == nil then return opts end
  local mapped = c.renamed(opts, {})
  mapped.deliver_as = delivery[opts.deliver_as]
  return mapped
end

m.messages = {
  -- send_message(message, trigger_turn?): the second argument is a boolean or a table.
  send_message = function(message, how)
    if type(how) == "boolean" then how = { trigger_turn = how } end
    must(pi.send_message(message, delivered(how)))
  end,
  append_entry = function(custom_type, data) return must(pi.append_entry(custom_type, data)) end,
  send_user_message = function(content, opts) must(pi.send_user_message(content, delivered(opts))) end,
  send = function(text, attachments) must(pi.send(text, attachments)) end,
  register_message_renderer = function(custom_type, source)
    if type(source) ~= "function" then return pi.register_message_renderer(custom_type, source) end
    return pi.register_message_renderer(custom_type, function(message, opts, ours)
      return m.drawn(source(message, opts, m.theme(ours)), opts.width)
    end)
  end,
}

-- The rest

-- Events between hooks, on a bus that the own file hears too.
local own_listeners = {}

local function on_bus(name) return name:find(":", 1, true) and name or "bus:" .. name end

m.events = {
  on = function(name, source)
    if type(name) ~= "string" or type(source) ~= "function" then return pi.on(name, source) end
    local event = on_bus(name)
    local off = pi.on(event, function(e) source(e.data) end)
    local list, entry = own_listeners[event] or {}, { source }
    own_listeners[event] = list
    list[#list + 1] = entry
    return function()
      for i = #list, 1, -1 do
        if list[i] == entry then table.remove(list, i) end
      end
      return off()
    end
  end,
  emit = function(name, data)
    local event = on_bus(name)
    for _, entry in ipairs { unpack(own_listeners[event] or {}) } do
      local ok, message = pcall(entry[1], data)
      if not ok then pi.log(event .. ": " .. tostring(message)) end
    end
    return pi.emit(event, data)
  end,
}

-- ai.complete(model, {messages, system?}, {api_key?, max_tokens?, signal?}): the answer.
local function complete(model, request, opts)
  request = c.renamed(request, { system_prompt = "system" })
  return must(require("pi.llm").complete(model, request, opts))
end

local of_llm, of_schema = 'use require "pi.llm"', 'use require "pi.schema"'
local one, all, asked = "use ctx.model_registry.find(provider, id)", "use ctx.model_registry.get_all()", "use ai.complete"
local ai = c.layer("ai", { complete = complete }, {
  stream = of_llm, stream_simple = of_llm, streamSimple = of_llm, complete_simple = asked, completeSimple = asked,
  get_model = one, getModel = one, get_models = all, getModels = all,
  type = of_schema, Type = of_schema, string_enum = of_schema, StringEnum = of_schema,
})

local function result_of(tool)
  return function(event) return event.tool_name == tool end
end

m.rest = {
  exec = m.exec, tui = m.tui, ai = ai, events = m.events,
  set_session_name = function(text) must(pi.set_session_name(text)) end,
  get_session_name = function() return pi.session_name() end,
  set_label = function(id, label) must(pi.set_label(id, label)) end,
  register_provider = function(provider, opts) return pi.provider(provider, opts) end,
  unregister_provider = function(provider) return pi.remove_provider(provider) end,
  set_model = set_model, set_thinking_level = set_thinking_level,
  get_thinking_level = function() return c.ctx().thinking_level end,
}

-- What an event of a tool's result is the result of.
m.guards = {}
for _, tool in ipairs { "bash", "read", "edit", "write", "grep", "find", "ls" } do
  m.guards["is_" .. tool .. "_tool_result"] = result_of(tool)
end

-- images are those of an event's attachments; nil if there is none.
function m.images(event)
  local images
  for _, block in ipairs(event.attachments) do
    if block.type == "image" then
      images = images or {}
      images[#images + 1] = block
    end
  end
  return images
end

-- joined is a table of all members of several.
function m.joined(...)
  local all = {}
  for i = 1, select("#", ...) do
    for key, member in pairs((select(i, ...))) do all[key] = member end
  end
  return all
end

return m
