-- Permissions: what the model may do is a list in config.toml, no code.
--
--   [hook.permissions]
--   allow = [
--     { tool = ["read", "grep", "find", "ls"], path = "." },
--     { tool = ["write", "edit"], path = ["src", "docs"] },
--     { command = ["ls", "git status", "git diff", "go test"] },
--   ]
--   ask  = [{ command = "git push" }]
--   deny = [{ path = [".env", ".git", "*.key"] }, { command = ["sudo", "rm"] }]
--   unknown = "ask"   # what no rule fits; or "deny"
--
-- A rule fits by tool, path and command; what it leaves out does not matter. Of all rules that fit,
-- the strictest counts: deny, then ask, then allow. Where nobody can be asked, ask is a no.
--
-- path is a file or a folder with all that is below it, from the project or from ~ or /, with *
-- and **. It counts as it is written and where it leads, behind links and "..". In ask and deny a
-- name without a slash counts in every folder and in any case; there a rule that names no tool also
-- counts for the words of shell commands.
--
-- command is the first words of a command. A line is taken apart by pi.sh, not searched: each
-- command behind a pipe, in $(…), in sh -c "…", behind sudo or xargs needs a rule of its own,
-- and a file that is written by > is one that the tool write would write. What cannot be known
-- before it runs is unknown: variables, patterns, scripts from elsewhere.
--
-- It is a gate, not a wall: a program that you allow does what it does (go test runs any code of
-- the project; grep -r reads what is below). sandbox.lua is the wall.
--
-- Needs: rules in config.toml.
--
-- Install: pi hooks add example:permissions, or try it with pi --hook permissions.lua. Saved rules
-- count at once, /settings shows them.

local fs = require "pi.fs"
local json = require "pi.json"
local path = require "pi.path"
local schema = require "pi.schema"
local sh = require "pi.sh"

local function words(about)
  return schema.optional(schema.any_of({ schema.string(), schema.array(schema.string()) }, about))
end

local function rules(about)
  return schema.array(schema.object {
    tool = words "names of tools", path = words "files and folders", command = words "first words of commands",
  }, { description = about, default = json.list() })
end

local settings = pi.declare_settings(schema.object {
  allow = rules "what the model may do unasked",
  ask = rules "what you are asked about",
  deny = rules "what it may not do",
  unknown = schema.enum({ "ask", "deny" }, { default = "ask", description = "what becomes of a call that no rule fits" }),
})

local RANK = { allow = 1, ask = 2, deny = 3 }

local function list(value)
  return type(value) == "table" and value or { value }
end

local function words_of(line)
  local commands = sh.commands(line)
  if not commands or #commands ~= 1 then error(("%q in [hook.permissions] is not one command"):format(line), 0) end
  return commands[1].words
end

-- The rules with their lists, the strictest first. What means nothing keeps the hook from loading.
local RULES = {}
for _, verdict in ipairs { "deny", "ask", "allow" } do
  for _, rule in ipairs(settings[verdict]) do
    local command = {}
    for i, line in ipairs(list(rule.command)) do command[i] = words_of(line) end
    for _, pattern in ipairs(list(rule.path)) do path.match("", pattern) end
    table.insert(RULES, { verdict = verdict, tool = list(rule.tool), path = list(rule.path), command = command, text = json.encode(rule) })
  end
end

-- Whether a path is what a pattern names, or lies below it.
local function below(p, pattern)
  while true do
    if path.match(p, pattern) then return true end
    local up = path.dir(p)
    if up == p then return false end
    p = up
  end
end

local function named(p, pattern, strict)
  local from = path.abs(path.expand(pattern) or pattern, fs.real("."))
  if not strict then return below(p, from) end
  p, from, pattern = p:lower(), from:lower(), pattern:lower()
  if below(p, from) then return true end
  for _, part in ipairs(not pattern:find("/") and path.split(p) or {}) do
    if path.match(part, pattern) then return true end
  end
  return false
end

-- A strict rule fits a path by any of its forms, one that allows only by all of them.
local function path_fits(p, patterns, strict)
  local expanded = path.expand(p) or p
  local forms = { path.abs(expanded, fs.real(".")), fs.real(expanded, { missing = true }) or false }
  for _, form in ipairs(forms) do
    local fits = false
    for _, pattern in ipairs(patterns) do fits = fits or form and named(form, pattern, strict) end
    if strict and fits then return true end
    if not strict and not fits then return false end
  end
  return not strict
end

-- A strict rule fits a command by the name of its program, wherever that is, with anything
-- between its words: git -C x push. One that allows fits only what begins with just its words.
local function command_fits(command, wanted, strict)
  local at = 0
  for i, word in ipairs(wanted) do
    if not strict then
      if command.words[i] ~= word then return false end
    elseif i == 1 then
      if (command.name or ""):lower() ~= word:lower() then return false end
      at = 1
    else
      repeat at = at + 1 until at > #command.words or command.words[at]:lower() == word:lower()
      if at > #command.words then return false end
    end
  end
  return true
end

local function any(list, fits)
  for _, each in ipairs(list) do
    if fits(each) then return true end
  end
  return false
end

-- Whether a rule fits a deed: { tool, path?, command?, word? }. A word of a command may be a path,
-- or not, so only strict rules look at it.
local function fits(rule, deed)
  local strict = rule.verdict ~= "allow"
  if #rule.tool > 0 and not any(rule.tool, function(name) return path.match(deed.tool, name) end) then return false end
  if #rule.command > 0 and not (deed.command and any(rule.command, function(c) return command_fits(deed.command, c, strict) end)) then return false end
  if #rule.path == 0 then return not deed.word end
  if deed.word then return strict and path_fits(deed.word, rule.path, true) end
  return deed.path ~= nil and path_fits(deed.path, rule.path, strict)
end

-- The verdict of the strictest rule that fits a deed, and why; of a word it may be none.
local function judge(deed)
  for _, rule in ipairs(RULES) do
    if fits(rule, deed) then return rule.verdict, rule.verdict .. " = " .. rule.text end
  end
  if not deed.word then return settings.unknown, "no rule fits " .. (deed.text or deed.tool .. " " .. (deed.path or "")) end
end

local READS = { ["<"] = true, ["<<"] = true, ["<<-"] = true, ["<<<"] = true }

-- What may be a path in a word: the word itself, what is behind the letter of an option, and the
-- pieces of both.
local function pieces_of(word)
  local pieces = { [word] = true }
  for piece in (word .. " " .. word:gsub("^%-%a", "")):gmatch("[^%s\"'`=:,;()<>|&{}%[%]@]+") do
    pieces[piece] = true
  end
  return pieces
end

-- The deeds of one command: itself, its words, and the files that the shell opens for it.
local function deeds_of(command, tool)
  local deeds = { { tool = tool, command = command, text = command.text } }
  for _, word in ipairs(command.words) do
    for piece in pairs(pieces_of(word)) do table.insert(deeds, { tool = tool, word = piece }) end
  end
  for _, redirect in ipairs(command.redirects) do
    local joined = redirect.op == ">&" and redirect.path:find("^[%d%-]+$") -- as in 2>&1
    if not joined and redirect.path ~= "/dev/null" and not redirect.op:find("^<<") then
      table.insert(deeds, { tool = READS[redirect.op] and "read" or "write", path = redirect.path })
      table.insert(deeds, { tool = tool, word = redirect.path })
    end
  end
  return deeds
end

local MOVES = { cd = true, pushd = true, popd = true }
local MOVE_BY_OPTION = { env = true, git = true, make = true, tar = true }

-- Whether a command makes names mean something else: for what follows it, or for its own words.
local function moves(command, last)
  if MOVE_BY_OPTION[command.name or ""] then
    return any(command.words, function(word) return word:find("^%-C") or word:find("^%-%-chdir") or word:find("^%-%-directory") end)
  end
  return MOVES[command.name or ""] and not last
end

-- Calls each with what a line does, and with what cannot be known of it.
local function read_line(line, tool, each, doubt)
  local commands, message = sh.commands(line)
  if not commands then return doubt(message) end
  if commands.unknown then doubt(("what it does cannot be known before it runs: %s: %s"):format(commands.unknown_text, commands.unknown_why)) end
  for i, command in ipairs(commands) do
    if #command.assigns > 0 then doubt("it sets " .. command.assigns[1].name) end
    if moves(command, i == #commands) then doubt("it goes to another folder") end
    for _, deed in ipairs(deeds_of(command, tool)) do each(deed) end
  end
end

-- The verdict about a call, and why.
local function judge_call(event)
  local verdict, why = "allow", nil
  local function note(another, reason)
    if another and RANK[another] > RANK[verdict] then verdict, why = another, reason end
  end
  local line = event.input.command
  if type(line) == "string" and (event.tool_name == "bash" or event.annotations.kind == "execute") then
    read_line(line, event.tool_name, function(deed) note(judge(deed)) end, function(reason) note(settings.unknown, reason) end)
    return verdict, why
  end
  local p = event.input.path
  if type(p) ~= "string" and event.annotations.kind == "read" then p = "." end -- grep, find and ls look here
  for _, form in ipairs(type(p) == "string" and p:find("^@") and { p, p:sub(2) } or { p or false }) do
    note(judge { tool = event.tool_name, path = form or nil })
  end
  return verdict, why
end

pi.on("tool_call", function(event, ctx)
  local verdict, why = judge_call(event)
  if verdict == "allow" then return end
  if verdict == "deny" then return { block = true, reason = "not allowed here: " .. why } end
  if not ctx.has_ui then return { block = true, reason = "a user would have to allow this: " .. why } end
  local what = event.input.command or event.tool_name .. " " .. json.encode(event.input)
  if not ctx.ui.confirm("Allow this? " .. why, what, { always = what }) then
    return { block = true, reason = "the user did not allow this: " .. why }
  end
end)
