-- Processes: commands that go on in the background, such as a server, or tests that
-- run on every save.
--
-- The model starts them with the tool "process", reads what they print, waits for
-- them and stops them. A line that fits the expression in "watch", and the end of a
-- watched command, wake the agent: at once when it is idle, else when it is done.
-- You see them with /ps, as they go on: Enter shows what one printed, Del ends it. /ps 1
-- and /ps stop 1 do the same. They survive a change of this file, and end with pi.
--
-- A gate that looks at commands should look at this tool too: its kind is execute,
-- as that of bash, and so is the shell that it hands `command` to, since another one
-- may read the same line otherwise. The gates among the examples do. While such a command runs, changes of hooks wait for your
-- approval, since it could have made them.
--
-- Install: pi hooks add example:processes, or try it with pi --hook processes.lua.

local re = require "pi.re"
local schema = require "pi.schema"
local text = require "pi.text"
local timer = require "pi.timer"

local KEPT = 500     -- lines of each command
local LONGEST = 2000 -- bytes of a line

-- What is known of each command, by its id. It is in pi.state, so that the next
-- version of this file has it; the programs themselves are not data.
pi.state.commands = pi.state.commands or {}
pi.state.started = pi.state.started or 0
local commands, programs = pi.state.commands, {}

local function wake(id, what)
  pi.send_message({
    custom_type = "process",
    content = ("Command %s in the background (%s) %s"):format(id, commands[id].line, what),
  }, { trigger_turn = true, deliver_as = "follow_up" })
end

-- What pi calls for a program. Nothing more is read of it while one of these runs.
local function listeners(id)
  local command = commands[id]
  local function note(line)
    table.insert(command.lines, line)
    if #command.lines > KEPT then table.remove(command.lines, 1) end
    if command.watch and re.test(line, command.watch) then wake(id, "printed: " .. line) end
  end
  return {
    on_stdout = note, on_stderr = note, max_bytes = LONGEST,
    on_exit = function(exit)
      programs[id] = nil
      command.exit = exit.signal and "ended by " .. exit.signal or "exit status " .. exit.code
      if command.watch and not exit.killed then wake(id, "has ended: " .. command.exit) end
    end,
  }
end

pi.on("session_start", function()
  for id, command in pairs(commands) do
    if not command.exit then
      programs[id] = pi.spawned("process " .. id, listeners(id))
      if not programs[id] then command.exit = "lost" end
    end
  end
end)

-- The shell of the tool bash: bash, or sh where there is none.
local function shell()
  local found = pi.exec("bash", { "-c", "true" })
  return found and found.code == 0 and "bash" or "sh"
end

local function start(line, watch)
  if watch then
    local ok, err = re.check(watch)
    if not ok then return nil, err end
  end
  pi.state.started = pi.state.started + 1
  local id = tostring(pi.state.started)
  commands[id] = { line = line, watch = watch, lines = {} }
  local options = listeners(id)
  options.keep = "process " .. id
  local program, err = pi.spawn(shell(), { "-c", line }, options)
  if not program then
    commands[id] = nil
    return nil, err
  end
  program.close_stdin()
  programs[id] = program
  return id
end

local function stop(id)
  if not programs[id] then return end
  programs[id].kill()
  if programs[id] and not programs[id].wait{ timeout = 3000 } then programs[id].kill("KILL") end
end

local function state(id) return ("%s  %s  %s"):format(id, commands[id].exit or "running", commands[id].line) end

-- The ids, in the order in which they were given.
local function ids()
  local list = {}
  for id = 1, pi.state.started do
    if commands[tostring(id)] then list[#list + 1] = tostring(id) end
  end
  return list
end

local function all()
  local list = {}
  for i, id in ipairs(ids()) do list[i] = state(id) end
  return #list > 0 and table.concat(list, "\n") or "nothing was started"
end

local function output(id, lines)
  local printed = commands[id].lines
  local last = table.concat(printed, "\n", math.max(1, #printed - lines + 1))
  return state(id) .. "\n" .. text.truncate(last, { bytes = 20000, keep = "tail" })
end

-- The commands as rows of a list, whose columns a tab parts.
local function items()
  local list = {}
  for i, id in ipairs(ids()) do
    list[i] = { value = id, label = ("%s\t%s\t%s"):format(id, commands[id].exit or "running", commands[id].line) }
  end
  return list
end

-- Shows the commands as they go on, and what the selected one printed last. Returns the one
-- that the user wants to see, or nil.
local function look(ctx)
  local theme, list, shown = ctx.ui.theme, ctx.ui.list { items = items() }, nil
  local cancel = timer.every(1000, function()
    list.set_items(items())
    if shown then shown.request_render() end
  end)
  local id = ctx.ui.custom {
    wait = true,
    render = function(width, surface)
      shown = surface
      local rows = { theme.bold("Commands in the background") }
      for _, row in ipairs(list.render(width)) do rows[#rows + 1] = row end
      local printed = commands[list.selected()].lines
      for i = math.max(1, #printed - 2), #printed do rows[#rows + 1] = theme.fg("dim", "  │ " .. printed[i]) end
      rows[#rows + 1] = theme.fg("dim", "  Enter shows all it printed · Del ends it · Esc")
      return rows
    end,
    handle_input = function(key, surface, opts)
      if key ~= "delete" then return list.handle_input(key, surface, opts) end
      stop(list.selected())
      list.set_items(items())
    end,
  }
  cancel()
  return id
end

local function failed(why) return { content = why, is_error = true } end

pi.tool{
  name = "process",
  description = "Commands in the background, for what does not end by itself or takes long. start: runs `command` with bash, "
    .. "tells its id and returns at once. read: what it printed last. wait: until it has ended, at most `seconds`. stop: ends it. list: all of them.",
  prompt_snippet = "start, read and stop commands in the background",
  annotations = { kind = "execute", open_world = true, destructive = true },
  parameters = schema.object{
    action = schema.enum{ "start", "read", "wait", "stop", "list" },
    command = schema.optional(schema.string("to start")),
    watch = schema.optional(schema.string("to start: a regular expression; you are told of lines that fit it, and of the end")),
    id = schema.optional(schema.string("of a command that was started")),
    lines = schema.optional(schema.integer("to read: how many, 50 unless given")),
    seconds = schema.optional(schema.number("to wait: 60 unless given")),
  },
  execute = function(params)
    if params.action == "list" then return all() end
    if params.action == "start" then
      if not params.command then return failed("command is missing") end
      local id, err = start(params.command, params.watch)
      return id and "started as " .. id or failed(err)
    end
    local id = params.id
    if not commands[id] then return failed("no command has the id " .. tostring(id)) end
    if params.action == "stop" then stop(id) end
    if params.action == "wait" and programs[id] then programs[id].wait{ timeout = (params.seconds or 60) * 1000 } end
    return output(id, params.lines or 50)
  end,
}

pi.command("ps", {
  description = "Commands in the background; stop ID ends one, and ID shows what it printed",
  complete = function()
    local words = {}
    for id in pairs(programs) do table.insert(words, "stop " .. id) end
    return words
  end,
  handler = function(ctx)
    local stops = ctx.args[1] == "stop"
    local id = ctx.args[stops and 2 or 1]
    if not id and ctx.ui.can("draw") and #ids() > 0 then
      id = look(ctx)
      if not id then return end
    end
    if not id then return { status = all() } end
    if not commands[id] then return { status = "no command has the id " .. id .. "; /ps lists them" } end
    if stops then stop(id) end
    return { status = stops and state(id) or output(id, KEPT) }
  end,
})
