-- Command hooks: runs the hooks that you wrote for Claude Code, Codex or crush.
--
-- Such a hook is a command in a settings file. It gets the event as JSON and answers
-- with its exit status, or with JSON: status 2 blocks, and standard error says why.
--
--   { "hooks": { "PreToolUse": [ { "matcher": "Bash",
--       "hooks": [ { "type": "command", "command": "./check.sh", "timeout": 10 } ] } ] } }
--
--   PreToolUse         before a tool: may block it, change its input, add context
--   PostToolUse        after it: may add to what the model reads
--   UserPromptSubmit   may stop a prompt, or add context to it
--   SessionStart       may add context to the first prompt
--   Stop               may let the model go on
--   PreCompact         may keep the conversation from being summarised
--
-- Before a tool every failure blocks: a command that cannot be started, takes too long,
-- or ends with another status than 0. (Elsewhere 1 means "go on"; a gate that breaks
-- should not be open.) "allow" is no opinion: the other gates are asked all the same.
--
-- Settings of a project are command lines that came with its files. They run when you
-- have said yes to these bytes, and to the scripts of the project that they name, behind cd
-- too; when those change, tools are shut until /reload asks again. A pattern counts as all
-- files that fit where the line runs them, a folder with all in it behind run-parts and
-- find -exec, and what make, npm and their like are told by (Makefile, package.json). Where a
-- line leaves open what it runs, as `$x/check` and `make check` do, the question says so: what
-- that is may change. Scripts and modules that scripts run are not followed.
--
-- Install: pi hooks add example:command_hooks, or try it with pi --hook command_hooks.lua.

local fs = require "pi.fs"
local hash = require "pi.hash"
local json = require "pi.json"
local path = require "pi.path"
local re = require "pi.re"
local sh = require "pi.sh"

-- Files, and whose words their hooks are told tools by.
local OWN = {
  { "~/.claude/settings.json", "claude" }, { "~/.codex/hooks.json", "claude" }, { "~/.config/crush/crush.json", "crush" },
}
local PROJECT = {
  { ".claude/settings.json", "claude" }, { ".claude/settings.local.json", "claude" }, { ".codex/hooks.json", "claude" },
  { "crush.json", "crush" }, { ".crush.json", "crush" },
}

-- Names of tools, and of their arguments, elsewhere.
local NAMES = {
  claude = { bash = "Bash", read = "Read", write = "Write", edit = "Edit", grep = "Grep", find = "Glob", ls = "LS" },
  crush = { read = "view", find = "glob" },
}
local MORE = { edit = { "MultiEdit", "apply_patch" }, write = { "apply_patch" } }
local ARGUMENTS = {
  read = { path = "file_path" }, write = { path = "file_path" },
  edit = { path = "file_path", old_text = "old_string", new_text = "new_string" },
}

local hooks = {} -- all that run: {name, event, matcher, kind, command, timeout, dialect, source}
local shut = "the command hooks are not read yet" -- why no tool may run; nil: they may

-- Settings -------------------------------------------------------------------

-- "PreToolUse", "pre_tool_use" and "pretooluse" are the same.
local function plain(name) return (name:lower():gsub("_", "")) end

-- Adds the hooks of one file to a list; nil and what is wrong if it cannot be read.
local function read_settings(source, into)
  local body, message = fs.read(source.path)
  if not body then return nil, message end
  local settings
  settings, message = json.decode(body)
  if type(settings) ~= "table" then return nil, source.path .. ": " .. (message or "no JSON object") end
  if settings.disableAllHooks then return true end
  for event, groups in pairs(settings.hooks or {}) do
    for _, group in ipairs(groups) do
      for _, hook in ipairs(group.hooks or { group }) do -- crush has no inner list
        into[#into + 1] = {
          name = event, event = plain(event), matcher = group.matcher, kind = hook.type or "command", command = hook.command,
          timeout = hook.timeout, dialect = source.dialect, source = source,
        }
      end
    end
  end
  return true
end

local INTERPRETER = [[^(python|pypy|ruby|perl|php|node|nodejs|deno|bun|lua|luajit|tclsh)[0-9.]*$]]

local SHELL = [[^(sh|bash|dash|ash|ksh|mksh|zsh|fish|source|\.|eval|exec|xargs|parallel)$]]

-- Programs that run what files of the project say, and those files.
local RUNNERS = {
  make = { "GNUmakefile", "makefile", "Makefile" }, just = { "justfile", "Justfile", ".justfile" }, rake = { "Rakefile", "rakefile" },
  task = { "Taskfile.yml", "Taskfile.yaml" }, ninja = { "build.ninja" }, go = {}, cargo = { "Cargo.toml", "build.rs" },
  composer = { "composer.json" }, ["run-parts"] = {}, find = {},
}
RUNNERS.gmake = RUNNERS.make
for name in ("npm npx pnpm yarn bun bunx"):gmatch("%S+") do RUNNERS[name] = { "package.json" } end

-- Whether a command runs what its words name though it is understood.
local function runs_words(command)
  if command.name == "find" then return re.test(table.concat(command.words, " "), [[ -(exec|execdir|ok|okdir) ]]) end
  return RUNNERS[command.name or ""] ~= nil
end

-- Those of them that run what is in a folder.
local FOLDERS = { ["run-parts"] = true, find = true }

local PIECE = "[^%s\"'`=:,;()<>|&{}]+"
local MOST = 1000 -- files of a folder or of a pattern

-- The commands of a hook's line, in which the project stands for what names it.
local function commands_of(hook, ctx)
  local line = hook.command or ""
  for _, name in ipairs { "CLAUDE_PROJECT_DIR", "CRUSH_PROJECT_DIR", "CRUSH_CWD" } do line = line:gsub("%${?" .. name .. "}?", "/@project@") end
  local commands, message = sh.commands((line:gsub("%${?PWD}?", ".")))
  if not commands then
    return { unknown = true, unknown_text = line, unknown_why = message, { words = re.split("? " .. line, [[\s+]]), redirects = {} } }
  end
  local function named(word) return (word:gsub("/@project@", function() return ctx.cwd end)) end
  for _, command in ipairs(commands) do
    for i, word in ipairs(command.words) do command.words[i] = named(word) end
    for _, redirect in ipairs(command.redirects) do redirect.path = named(redirect.path) end
  end
  return commands
end

-- The folders in which the names of a line may count: where it begins, that of the settings,
-- and those that it goes to.
local function folders_of(commands, source, ctx)
  local list = { ctx.cwd, path.dir(source.path) }
  for _, command in ipairs(commands) do
    for i, word in ipairs(command.words) do
      local before = command.words[i - 1]
      local goes = before and (command.name == "cd" or command.name == "pushd" or before == "-C" or before == "--chdir" or before == "--directory")
      for n = 1, goes and math.min(#list, 16) or 0 do list[#list + 1] = path.abs(path.expand(word) or word, list[n]) end
    end
  end
  return list
end

-- The line of a hook without what it writes and where it goes, and whether it runs what its
-- patterns fit: it is not understood, and a shell, an interpreter or a word that only the
-- shell knows is told by them.
local function raw_of(hook, commands)
  local line, runs = hook.command or "", false
  for _, name in ipairs { "CLAUDE_PROJECT_DIR", "CRUSH_PROJECT_DIR", "CRUSH_CWD", "PWD" } do line = line:gsub("[\"']?%${?" .. name .. "}?[\"']?", ".") end
  for _, command in ipairs(commands) do
    local name = command.name or ""
    runs = runs or #command.words > 0 and (not command.name or re.test(name, SHELL) or re.test(name, INTERPRETER) or runs_words(command))
  end
  line = line:gsub(">+[|&]?%s*%S+", " "):gsub("%f[%w]tee%s[^|;&\n]*", " "):gsub("%f[%w]cd%s+%S+", " "):gsub("%f[%w]pushd%s+%S+", " ")
  return line:gsub("%s%-C%s*%S+", " "):gsub("%-%-chdir[=%s]%S+", " "), runs and commands.unknown
end

-- A list of files, with trouble where it cannot be whole, and what adds to it what a word means
-- in any of the folders: a file, all that is in a folder, or all that a pattern fits. What lies
-- neither in the project nor beside the settings is a program of the system, and is not added.
local function collector(hook, ctx, folders)
  local files = {}
  local function counts(file)
    local function inside(dir) return not (path.rel(file, dir) or ".."):find("^%.%.") end
    return inside(ctx.cwd) or inside(path.dir(hook.source.path))
  end
  local function note(word, runs)
    local before = #files
    for _, folder in ipairs(folders) do
      local file = path.abs(path.expand(word) or word, folder)
      local info = (runs or re.test(file, [[\.(sh|bash|py|js|cjs|mjs|ts|rb|pl|php|lua|go|rs)$]])) and fs.stat(file)
      if info and info.kind == "file" and counts(file) then files[#files + 1] = file end
    end
    return #files > before
  end
  local function note_pattern(pattern, folder)
    local before = #files
    if not counts(folder) or not fs.exists(folder) then return end
    local found, message = fs.glob(pattern, { dir = folder, files = true })
    for _, file in ipairs(found or {}) do
      file = path.abs(file, folder)
      if counts(file) then files[#files + 1] = file end
    end
    if not found then
      files.trouble = message
    elseif #files - before > MOST then
      files.trouble = ("%s: its hooks name more than %d files by %s"):format(hook.source.path, MOST, pattern)
    end
  end
  local function note_folder(word)
    for _, folder in ipairs(folders) do
      local dir = path.abs(path.expand(word) or word, folder)
      local info = dir ~= ctx.cwd and fs.stat(dir)
      if info and info.kind == "directory" then note_pattern("**/*", dir) end
    end
  end
  return files, note, note_pattern, note_folder
end

-- The files that a line runs as far as it names them, and that lie in the project or beside
-- the settings. What a command that is understood reads is data, which changes: of it the
-- program counts, and what its ending says is a script; of an interpreter the first file. In a
-- line that is not understood whatever is named may run, but for what it writes.
local function scripts_of(hook, ctx)
  local commands = commands_of(hook, ctx)
  local folders = folders_of(commands, hook.source, ctx)
  local files, note, note_pattern, note_folder = collector(hook, ctx, folders)
  for _, command in ipairs(commands) do
    local interpreter, runner = re.test(command.name or "", INTERPRETER), runs_words(command)
    local all, first = runner or commands.unknown and command.name ~= "tee", interpreter
    for _, name in ipairs(runner and RUNNERS[command.name] or {}) do note(name, true) end
    for i, word in ipairs(command.words) do
      local noted = note(word, all or first or i == 1)
      if noted and i > 1 and not re.test(command.words[i - 1], [[^-(r|l|I|M)$|^--(require|import)$]]) then first = false end
      for piece in word:gmatch("[^%s\"'`=:,;()<>|&{}%[%]]+") do
        if all and piece ~= word then note(piece, true) end
      end
      if all and word:find("^%-%a.") then note(word:sub(3), true) end
      if runner and (FOLDERS[command.name] or command.name == "go" and command.words[2] == "run") then note_folder(word) end
      local module = interpreter and (word:match("^%-m(.+)") or command.words[i - 1] == "-m" and word)
      if module then
        note(module:gsub("%.", "/") .. ".py", true)
        note_folder((module:gsub("%.", "/")))
      end
    end
    for _, assign in ipairs(command.assigns or {}) do
      for piece in assign.value:gmatch(PIECE) do note(piece, true) end
    end
    for _, redirect in ipairs(command.redirects) do
      if redirect.op == "<" or redirect.op == "<>" then note(redirect.path, all) end
    end
  end
  local raw, runs = raw_of(hook, commands)
  for piece in (commands.unknown and raw or ""):gmatch(PIECE) do
    note(piece, true)
    if runs and piece:find("[*?[]") then
      for _, folder in ipairs(pcall(path.match, "", piece) and folders or {}) do note_pattern(path.expand(piece) or piece, folder) end
    end
  end
  return files
end

-- A sum of the settings and of the scripts that their commands name; nil and a message if one
-- cannot be read.
local function fingerprint(source, list, ctx)
  local body, message = fs.read(source.path)
  if not body then return nil, message end
  local parts = { body }
  for _, hook in ipairs(list) do
    local files = scripts_of(hook, ctx)
    if files.trouble then return nil, files.trouble end
    for _, file in ipairs(files) do
      body, message = fs.read(file)
      if not body then return nil, message end
      parts[#parts + 1] = file .. "\0" .. hash.sha256(body)
    end
  end
  return hash.sha256(table.concat(parts, "\0"))
end

-- Why it cannot be told which script a line runs, or "".
local function doubt(hook, ctx)
  local commands = commands_of(hook, ctx)
  for _, command in ipairs(commands) do
    if runs_words(command) then return ("\n  what it runs may change after your yes: %s runs what files say"):format(command.name) end
    for _, word in ipairs(command.words) do
      if commands.unknown and word == "?" then
        return ("\n  what it runs may change after your yes: %s: %s"):format(commands.unknown_text, commands.unknown_why)
      end
    end
  end
  return ""
end

local function approvals() return path.join(pi.paths.agent, "command_hooks.json") end

-- Whether the user wants the hooks of a project's file; asked once for these bytes.
local function approved(source, list, ctx)
  local known = json.decode(fs.read(approvals()) or "{}") or {}
  if known[source.path] == source.sum then return true end
  local lines = {}
  for _, hook in ipairs(list) do
    lines[#lines + 1] = ("%s %s: %s%s"):format(hook.name, hook.matcher or "*", hook.command or hook.kind, doubt(hook, ctx))
  end
  if not ctx.ui.confirm("Run the command hooks of " .. source.path .. "?", table.concat(lines, "\n")) then
    ctx.ui.notify("the command hooks of " .. source.path .. " do not run: nobody approved them", "warning")
    return false
  end
  known[source.path] = source.sum
  assert(fs.write(approvals(), json.encode(known)))
  return true
end

local function load_hooks(ctx)
  hooks, shut = {}, "the command hooks could not be read" -- if anything below fails
  local unreadable
  local function add(place, own)
    local source = { path = path.abs(path.expand(place[1]), ctx.cwd), dialect = place[2], own = own }
    if not fs.exists(source.path) then return end
    local list = {}
    local ok, message = read_settings(source, list)
    if not ok and own then unreadable = "command hooks cannot be read: " .. message end
    if not ok then return ctx.ui.notify("no command hooks: " .. message, own and "error" or "warning") end
    if #list == 0 then return end
    source.list = list
    source.sum, message = fingerprint(source, list, ctx)
    if not source.sum and own then unreadable = "command hooks cannot be read: " .. message end
    if not source.sum then return ctx.ui.notify("no command hooks: " .. message, own and "error" or "warning") end
    if not own and not approved(source, list, ctx) then return end
    for _, hook in ipairs(list) do hooks[#hooks + 1] = hook end
  end
  for _, place in ipairs(OWN) do add(place, true) end
  for _, place in ipairs(PROJECT) do add(place, false) end
  shut = unreadable
end

-- Running one -------------------------------------------------------------------

-- What came of a command: failed, block, halt, input, context and say, each may be nil.
local function outcome_of(ran, message)
  if not ran then return { failed = message } end
  local said = (ran.stderr:gsub("%s+$", ""))
  if ran.killed then return { failed = "it took too long" } end
  if ran.code == 2 then return { block = said ~= "" and said or "the hook gave no reason" } end
  if ran.code == 49 then return { block = said, halt = true } end
  if ran.code ~= 0 then return { failed = ("it ended with status %d: %s"):format(ran.code, said) } end
  if not ran.stdout:find("^%s*{") then return { context = ran.stdout:find("%S") and ran.stdout or nil, plain = true } end

  local answer, wrong = json.decode(ran.stdout)
  if not answer then return { failed = "its answer is no JSON: " .. wrong } end
  local own = answer.hookSpecificOutput or {}
  local decision = own.permissionDecision or answer.decision
  local reason = own.permissionDecisionReason or answer.reason or answer.stopReason or "the hook gave no reason"
  local context = own.additionalContext or answer.context
  if type(context) == "table" then context = table.concat(context, "\n") end
  local halt = answer.continue == false or answer.halt == true
  return {
    block = (halt or decision == "deny" or decision == "block") and reason or nil, ask = decision == "ask" and reason or nil,
    halt = halt, input = own.updatedInput or answer.updated_input, context = context, say = answer.systemMessage,
  }
end

local function run(hook, ctx, event)
  if hook.kind ~= "command" then return { failed = "hooks of the type " .. hook.kind .. " do not run here" } end
  local sum, message = fingerprint(hook.source, hook.source.list, ctx)
  if sum ~= hook.source.sum then
    return { failed = ("%s, or a script of it, has changed%s; /reload takes it as it is now"):format(hook.source.path, message and " (" .. message .. ")" or "") }
  end
  event.session_id, event.transcript_path, event.cwd = ctx.session_id, ctx.session_file, ctx.cwd
  event.event, event.permission_mode = event.hook_event_name, ctx.work_mode == "plan" and "plan" or "default"
  local input = event.tool_input or {}
  local env = {
    CLAUDE_PROJECT_DIR = ctx.cwd, CRUSH_PROJECT_DIR = ctx.cwd, CRUSH_CWD = ctx.cwd, CRUSH_EVENT = event.event,
    CRUSH_SESSION_ID = ctx.session_id, CRUSH_TOOL_NAME = event.tool_name, CRUSH_TOOL_INPUT_COMMAND = input.command,
    CRUSH_TOOL_INPUT_FILE_PATH = input.file_path,
  }
  local outcome = outcome_of(pi.exec("sh", { "-c", hook.command }, {
    stdin = json.encode(event) .. "\n", cwd = ctx.cwd, env = env, timeout = (hook.timeout or 60) * 1000,
  }))
  if outcome.say then ctx.ui.notify(outcome.say) end
  return outcome
end

-- Whether a hook is for something of this name. A pattern that is none here, such as one
-- with a lookahead, is for everything.
local function fits(hook, ...)
  if not hook.matcher or hook.matcher == "" or hook.matcher == "*" or not re.check(hook.matcher) then return true end
  for _, name in ipairs { ... } do
    if re.test(name, hook.matcher) then return true end
  end
  return false
end

local function tell_failure(hook, outcome, ctx)
  if outcome.failed then ctx.ui.notify(("command hook %s: %s"):format(hook.command or hook.kind, outcome.failed), "warning") end
end

-- Tools --------------------------------------------------------------------------

-- Tools of hooks that run a command, such as process, are bash to the hooks; its name here
-- is known from the call that went before.
local commanders = {}

local function kin(event)
  return commanders[event.tool_name] and type(event.input.command) == "string" and "bash" or event.tool_name
end

local function tool_name(hook, name) return NAMES[hook.dialect][name] or name end

-- The arguments of a tool in the words of elsewhere, and back.
local function renamed(tool, input, back, ctx)
  local out, names = {}, {}
  for here, there in pairs(ARGUMENTS[tool] or {}) do names[back and there or here] = back and here or there end
  for key, value in pairs(input) do
    if key == "edits" and type(value) == "table" then
      local edits = {}
      for i, edit in ipairs(value) do edits[i] = renamed(tool, edit, back, ctx) end
      value = edits
    end
    out[names[key] or key] = value
  end
  if out.file_path then out.file_path = path.abs(path.expand(out.file_path) or out.file_path, ctx.cwd) end
  if tool == "bash" then
    if out.timeout then out.timeout = back and math.ceil(out.timeout / 1000) or out.timeout * 1000 end
    if back then out.description, out.run_in_background = nil, nil end -- the tool has no such arguments
  end
  return out
end

-- Asks all hooks before a call. A block and its reason; else the input, whether it was
-- changed, and what the model is to be told.
local function ask_before(event, input, ctx)
  commanders[event.tool_name] = event.annotations.kind == "execute" or nil
  local changed, context, tool = false, {}, kin(event)
  for _, hook in ipairs(hooks) do
    local name = tool_name(hook, tool)
    if hook.event == "pretooluse" and fits(hook, name, tool, event.tool_name, unpack(MORE[tool] or {})) then
      local theirs = renamed(tool, input, false, ctx)
      local got = run(hook, ctx, {
        hook_event_name = "PreToolUse", tool_name = name, tool_input = theirs, tool_use_id = event.tool_call_id,
      })
      local block = got.block
      if got.failed then block = ("the command hook %s failed: %s"):format(hook.command or hook.kind, got.failed) end
      if got.ask and not ctx.ui.confirm("Run " .. event.tool_name .. "?", got.ask) then block = got.ask end
      if block then return { block = true, reason = block, terminate = got.halt or nil } end
      if got.input then
        if hook.dialect == "crush" then -- a patch; the others give all of it
          for key, value in pairs(got.input) do theirs[key] = value end
          got.input = theirs
        end
        input, changed = renamed(tool, got.input, true, ctx), true
      end
      if not got.plain then context[#context + 1] = got.context end
    end
  end
  return nil, input, changed, context
end

pi.on("tool_call", function(event, ctx)
  if shut then return { block = true, reason = shut } end
  local block, input, changed, context = ask_before(event, event.input, ctx)
  if not block and changed then block = ask_before(event, input, ctx) end -- what runs was seen by all of them
  if block then return block end
  return { input = changed and input or nil, additional_context = #context > 0 and table.concat(context, "\n") or nil }
end)

pi.on("tool_result", function(event, ctx)
  if event.is_error then return end
  local content, added, tool = event.content, false, kin(event)
  local response = { success = true, content = content, stdout = content[1] and content[1].text }
  for _, hook in ipairs(hooks) do
    local name = tool_name(hook, tool)
    if hook.event == "posttooluse" and fits(hook, name, tool, event.tool_name, unpack(MORE[tool] or {})) then
      local got = run(hook, ctx, {
        hook_event_name = "PostToolUse", tool_name = name, tool_use_id = event.tool_call_id,
        tool_input = renamed(tool, event.input, false, ctx), tool_response = response,
      })
      tell_failure(hook, got, ctx)
      for _, more in ipairs { got.block or false, not got.plain and got.context or false } do
        if more then
          content[#content + 1] = { type = "text", text = "[hook] " .. more }
          added = true
        end
      end
    end
  end
  if added then return { content = content } end
end)

-- The rest ---------------------------------------------------------------------------

local waiting = {} -- context for the next prompt

-- Runs the hooks of an event that is about no tool; returns the first block. What they
-- have to say goes along with the next prompt where the event is about that.
local function ask_all(name, about, ctx, fields, for_prompt)
  for _, hook in ipairs(hooks) do
    if hook.event == plain(name) and fits(hook, about) then
      local event = { hook_event_name = name }
      for key, value in pairs(fields) do event[key] = value end
      local got = run(hook, ctx, event)
      tell_failure(hook, got, ctx)
      if got.block then return got.block, got.halt end
      if for_prompt then waiting[#waiting + 1] = got.context end
    end
  end
end

local SOURCES = { new = "clear", branch = "resume" }

pi.on("session_start", function(event, ctx)
  load_hooks(ctx)
  if event.reason == "reload" then return end
  local source = SOURCES[event.reason] or event.reason
  ask_all("SessionStart", source, ctx, { source = source }, true)
end)

pi.on("session_compact", function(_, ctx) ask_all("SessionStart", "compact", ctx, { source = "compact" }, true) end)

pi.on("input", function(event, ctx)
  if event.source == "hook" then return end
  local block = ask_all("UserPromptSubmit", "", ctx, { prompt = event.text }, true)
  if not block then return end
  ctx.ui.notify("the prompt was stopped: " .. block, "warning")
  return { handled = true }
end)

pi.on("before_agent_start", function()
  if #waiting == 0 then return end
  local content = table.concat(waiting, "\n")
  waiting = {}
  return { message = { custom_type = "command_hooks", content = content, display = false } }
end)

local went_on = false

pi.on("agent_start", function() went_on = false end)

pi.on("agent_before_settle", function(event, ctx)
  if event.outcome ~= "completed" then return end
  local reason, halt = ask_all("Stop", "", ctx, { stop_hook_active = went_on })
  if not reason or halt then return end
  went_on = true
  return {
    continue = true,
    entries = { { type = "custom_message", custom_type = "command_hooks", content = reason, display = true } },
  }
end)

pi.on("session_before_compact", function(event, ctx)
  local trigger = event.reason == "manual" and "manual" or "auto"
  local block = ask_all("PreCompact", trigger, ctx, { trigger = trigger, custom_instructions = event.custom_instructions or "" })
  if not block then return end
  ctx.ui.notify("the conversation stays whole: " .. block)
  return { cancel = true }
end)
