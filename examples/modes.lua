-- Modes: three ways to work, which you switch with Shift+Tab or /mode.
--
--   plan   the model only reads, and ends with a plan. Say yes to it, and it is carried
--          out in the mode that was on before; say no, and you can write what should be
--          different.
--   ask    what changes something is asked about first. "Always" holds for this session
--          and goes by the command: after "always" for git push, git push is not asked
--          about again, whatever follows it; git reset still is.
--   auto   nothing is asked, and the model is told not to ask back.
--
-- A mode is tools, a section of the system prompt and a gate, together under one name.
-- A session that is resumed is in the mode that it was left in.
--
-- Install: pi hooks add example:modes, or try it with pi --hook modes.lua.

local sh = require "pi.sh"
local text = require "pi.text"

-- Whether a call changes nothing. What a server only claims of its own tool does not count.
local function only_reads(event)
  return event.annotations.read_only and not event.annotations.claimed
end

-- plan -----------------------------------------------------------------------

pi.mode {
  name = "plan",
  description = "reads only, and ends with a plan for you to accept",
  tools = { "read", "grep", "find", "ls" },
  section = [[You are planning. Look around as much as you need, and change nothing. If something that
matters is not clear, ask about it and stop. When you know enough, end with a plan under the heading "## Plan": short
numbered steps that name the files and say how each step is checked. It is carried out when the user accepts it.]],
  -- A hook may have put a tool of its own in the place of one of these.
  gate = function(event)
    if only_reads(event) then return end
    return { block = true, reason = "nothing is changed while the mode plan is on" }
  end,
}

-- What plan was switched on over; it survives a reload of this file.
pi.on("mode_select", function(event)
  if event.mode == "plan" then pi.state.before = event.previous_mode end
end)

-- The text of the last answer.
local function last_answer(messages)
  for i = #messages, 1, -1 do
    if messages[i].role == "assistant" then return text.of(messages[i]) end
  end
  return ""
end

-- A message of the user that the model goes on with.
local function go_on(kind, content)
  return {
    continue = true,
    entries = { { type = "custom_message", custom_type = kind, display = true, content = content } },
  }
end

-- What should be different about a plan; nil where the user has nothing to say.
local function wish(ctx)
  if not ctx.ui.can("draw") then return end -- others answer in a prompt
  local field = ctx.ui.field { rows = 5, prompt = "change> ", placeholder = "what should be different? Ctrl+J breaks a line, Esc goes back to the prompt" }
  field.wait = true
  local said = ctx.ui.custom(field)
  return said and said:find("%S") and said
end

pi.on("agent_before_settle", function(event, ctx)
  if ctx.work_mode ~= "plan" or event.outcome ~= "completed" then return end
  local answer = last_answer(event.messages)
  if not ("\n" .. answer):find("\n#+ *Plan") then return end -- a question, or no plan yet
  if ctx.ui.confirm("Carry out this plan?", "No goes on planning: say what should be different.") then
    assert(ctx.set_mode(pi.state.before))
    return go_on("modes_accepted", "The plan is accepted. Carry it out, step by step.")
  end
  local said = ctx.has_ui and wish(ctx)
  return said and go_on("modes_changed", "The plan is not accepted yet. Make another one: " .. said) or nil
end)

-- ask ------------------------------------------------------------------------

-- Programs whose first word says what they do: "git push" is a command, "git" is none.
local FAMILIES = {}
for name in ("apt brew bun cargo docker gh git go helm kubectl make npm pip pnpm poetry uv yarn"):gmatch("%S+") do
  FAMILIES[name] = true
end

local READS = { ["<"] = true, ["<<"] = true, ["<<-"] = true, ["<<<"] = true }

-- What "always" is about for one simple command: its name, or nil where a later line
-- with the same name may do something else altogether.
local function key_of(command)
  local program, word = command.words[1], command.words[2]
  if not program or command.unknown or command.via or #command.assigns > 0 then return end
  for _, redirect in ipairs(command.redirects) do
    if not READS[redirect.op] and redirect.path ~= "/dev/null" and not redirect.path:find("^%d+$") then return end
  end
  if not FAMILIES[program] then return program end
  if word and word:find("^%l[%l%d:_-]*$") then return program .. " " .. word end
end

-- The same for a whole line: its commands, each once, in order of the alphabet.
local function key_of_line(line)
  local commands = sh.commands(line)
  if not commands or commands.unknown or #commands == 0 then return end
  local names, seen = {}, {}
  for _, command in ipairs(commands) do
    local key = key_of(command)
    if not key then return end
    if not seen[key] then names[#names + 1] = key end
    seen[key] = true
  end
  table.sort(names)
  return table.concat(names, ", ")
end

-- A line as the question shows it, with the reason why it cannot be known what it runs.
local function shown(line)
  local commands, message = sh.commands(line)
  if commands and not commands.unknown then return line end
  local why = commands and commands.unknown_text .. ": " .. commands.unknown_why or message
  return line .. "\n\nWhat it runs cannot be known before: " .. why
end

pi.mode {
  name = "ask",
  description = "asks before anything changes",
  gate = function(event, ctx)
    if only_reads(event) then return end
    local title, about, key = "Run " .. event.tool_name .. "?", nil, event.tool_name
    local line = (event.tool_name == "bash" or event.annotations.kind == "execute") and event.input.command
    if type(line) == "string" then -- tools of hooks run commands too
      about, key = shown(line), key_of_line(line)
      if key then title = "Run " .. key .. "?" end
    elseif type(event.input.path) == "string" then
      about = event.input.path
    end
    if not ctx.has_ui then return { block = true, reason = "the mode ask needs a user who says yes" } end
    if not ctx.ui.confirm(title, about, key and { always = key }) then
      return { block = true, reason = "the user did not want that" }
    end
  end,
}

-- auto -----------------------------------------------------------------------

pi.mode {
  name = "auto",
  description = "works without questions",
  section = [[You work on your own. Do not ask back: where something is open, choose what can be taken back,
go on, and say at the end what you chose. Check your work before you stop.]],
}
