-- The object of a compatibility module.
--
-- This file is called with what Go provides (host), the hook's own API (pi), the name of
-- the module, and the files that define it, and the members and events that several modules
-- share. It returns the object, and a description of it.
--
-- A module is called with c and returns
--
--   events      a list of rows, in the order of the documentation (see "Events" below)
--   no_events   for events without a counterpart: name = "use this instead"
--   members     what the object has, by name
--   no_members  as no_events
--   context     what ctx has beside ours: name = function, called by the author
--   live        the same for values: name = function(ours) that returns the value
--   no_context, no_ui   as no_events
--
-- and c has
--
--   c.name, c.object, c.pi, c.host     the name of the module, its object, ours, Go's
--   c.members, c.rows     members and rows of events that several modules share
--   c.ctx()               our ctx of the handler or command that was called last; raises before the first
--   c.has_run()           whether there was one
--   c.context(ours)       the ctx that the author's handlers get, for ours
--   c.command_context(ours)   the same for a command
--   c.component(x)        see members.lua
--   c.layer(name, own, missing, ours)   a table whose own members stand before those of ours
--   c.checked(value, message)   value, or the message raised at the author's line
--   c.hint(key, known)    the end of a message about an unknown key; known are the keys of a table
--   c.renamed(t, names)   a copy of t in which keys have other names; false removes one

local host, pi, name, define, members, rows_of = ...

local c = { name = name, host = host, pi = pi, object = {} }

local function set_of(list)
  local set = {}
  for _, key in ipairs(list) do set[key] = true end
  return set
end

local function keys_of(...)
  local all = {}
  for i = 1, select("#", ...) do
    for key in pairs((select(i, ...))) do all[#all + 1] = key end
  end
  table.sort(all)
  return host.list(all)
end

function c.checked(value, message)
  if value == nil then error(message or "it failed") end
  return value
end

function c.renamed(t, names)
  if type(t) ~= "table" then return t end
  local copy = {}
  for key, value in pairs(t) do
    local now = names[key]
    if now == nil then copy[key] = value elseif now then copy[now] = value end
  end
  return copy
end

local function absent(of, key, sentence)
  error(of .. " has no " .. tostring(key) .. "; " .. sentence)
end

-- Looking a name up: own members, then names without a counterpart, then ours.

-- A function that returns the set of the names of a table of ours, which are the same each
-- time.
local function known_names(ours)
  local set
  return function()
    if not set then set = set_of(host.names(ours())) end
    return set
  end
end

function c.hint(key, known) return host.hint(tostring(key), keys_of(known)) end

local function unknown(of, key, ...)
  error(("%s has no field %q%s"):format(of, tostring(key), host.hint(tostring(key), keys_of(...))))
end

function c.layer(of, own, missing, ours)
  local names = ours and known_names(ours) or function() return {} end
  return setmetatable(own, {
    __metatable = false,
    __index = function(_, key)
      if missing[key] then absent(of, key, missing[key]) end
      if names()[key] then return ours()[key] end
      unknown(of, key, own, names())
    end,
    __newindex = function(t, key, value)
      if names()[key] then ours()[key] = value else rawset(t, key, value) end
    end,
  })
end

-- ctx

local system -- what define returns
local last   -- our ctx of the last call

function c.ctx()
  if not last then error("not available before a handler or command has run; use session_start") end
  return last
end

function c.has_run() return last ~= nil end

local ours_has = known_names(function() return last end)

local function new_context(ours)
  return setmetatable({}, {
    __metatable = false,
    __index = function(_, key)
      local live = system.live[key]
      if live then return live(ours) end
      local own = system.context[key]
      if own ~= nil then return own end
      if system.no_context[key] then absent("ctx", key, system.no_context[key]) end
      if ours_has()[key] or key == "args" or key == "args_raw" then return ours[key] end
      unknown("ctx", key, system.live, system.context, ours_has())
    end,
    __newindex = function() error("ctx is read-only; keep your own values in a local or in pi.state") end,
  })
end

local of_handlers, shown -- our ctx of handlers and tools, and the one that stands for it

function c.context(ours)
  last = ours
  if ours ~= of_handlers then of_handlers, shown = ours, new_context(ours) end
  return shown
end

function c.command_context(ours)
  last = ours
  return new_context(ours)
end

-- Events
--
-- A row has
--
--   name, ours    what the event is called there and here
--   fields        the fields that the documentation names, a list in the order of it; shown by `pi hooks events`
--   results       the keys of a result, the same
--   rule          how several handlers go together, where that is not the rule of ours, and what else differs
--   adds, fill    fields that ours does not have, and fill(event, ours), which sets them
--   when          when(ours): whether the handler is called at all
--   tells         its source has no result: what a handler returns is dropped
--   gate          a result that is no table is an error, and blocks
--   answer        answer(result, event, ours): the result as ours expects it
--   group         {rule, keys?}: how its handlers go together, in all files that use this module
--   on            on(source): registers the handler in another way, and returns off

local rows = {}

-- wrap makes a handler of ours of one of the author's, which is source.
local function wrap(row, source)
  return function(ours, ctx)
    last = ctx
    if row.when and not row.when(ours) then return nil end
    local event = ours
    if row.fill or row.name ~= row.ours then event = host.event(ours, row.name, row.adds, row.fill) end
    local result = source(event, c.context(ctx))
    if row.tells or result == nil then return nil end
    if type(result) ~= "table" then
      if row.gate then return result end
      return nil
    end
    if row.answer then result = row.answer(result, event, ours) end -- no tail call, see luavm.SourceOf
    return result
  end
end

-- An event of ours that the module says nothing of: it passes as it is.
local function passing(event, source)
  local ok, off = pcall(pi.on, event, wrap({ name = event, ours = event, gate = true }, source))
  if ok then return off end
  local hint = host.hint(event, keys_of(rows, system.no_events))
  if hint ~= "" then error(("on: unknown event %q%s"):format(event, hint)) end
  error(off, 0)
end

local function on(event, source)
  if type(event) ~= "string" or type(source) ~= "function" then return pi.on(event, source) end
  if system.no_events[event] then error(("on: %s has no event %s; %s"):format(name, event, system.no_events[event])) end
  local row = rows[event]
  if not row then return passing(event, source) end
  if row.on then return row.on(source) end
  if row.group then
    return pi.on(row.ours, wrap(row, source), { group = { name = name .. " " .. row.name, rule = row.group.rule, keys = row.group.keys } })
  end
  return pi.on(row.ours, wrap(row, source))
end

c.wrap = wrap

-- The object

-- Functions are called with a dot. Called with a colon they would get the object as their
-- first argument.
local function dotted(key, fn)
  return function(first, ...)
    if rawequal(first, c.object) then error(("call it with a dot: .%s(…)"):format(key)) end
    return fn(first, ...)
  end
end

-- hook(fn) is the default export of a file: a function for the loader. It has the fields
-- of our pi.hook too.
local function exported(_, source)
  if type(source) ~= "function" then error("hook: expected a function") end
  return function() source(c.object) end
end

c.members = members(c)
c.rows = rows_of(c)
system = define(c)
for _, key in ipairs { "no_events", "no_members", "live", "context", "no_context", "no_ui" } do system[key] = system[key] or {} end
for _, row in ipairs(system.events) do
  row.ours, row.adds = row.ours or row.name, row.adds or {}
  rows[row.name] = row
end

local object = c.object
for key, member in pairs(system.members) do
  object[key] = type(member) == "function" and dotted(key, member) or member
end
object.on = dotted("on", on)
object.hook = setmetatable({}, { __metatable = false, __call = host.framed(exported), __index = function(_, key) return pi.hook[key] end })
c.layer(name, object, system.no_members, function() return pi end)

-- What Go is told of the module.
local function rows_told()
  local list = {}
  for i, row in ipairs(system.events) do
    list[i] = { name = row.name, ours = row.ours, payload = host.list(row.fields), result = host.list(row.results or {}), rule = row.rule or "" }
  end
  return list
end

return object, {
  events = rows_told(), no_events = system.no_events,
  members = keys_of(object), no_members = system.no_members,
  context = keys_of(system.live, system.context), no_context = system.no_context,
  ui = system.context.ui and keys_of(system.context.ui) or host.list {}, no_ui = system.no_ui,
}
