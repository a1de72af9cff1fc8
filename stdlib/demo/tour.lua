-- demo/tour: a model made of a script. It needs no key and no network, and it
-- goes the same way as any model: it gets the request, streams thoughts, words
-- and tool calls, and is asked again with the results.
--
-- A prompt is cut into wishes ("read a.txt and run `date`"); each wish becomes
-- one tool call, all of them in one message. When results come back, every
-- answer is made from what the tool really said.

local json = require "pi.json"

local examples = [[
    list                          the files here (or: list DIR)
    read FILE                     the beginning of a file
    find GLOB                     files by name, such as find **/*.go
    grep TEXT                     lines that contain TEXT (or: grep TEXT in DIR)
    run `CMD`                     a shell command
    write FILE: TEXT              a new file
    edit FILE: OLD -> NEW         a change in a file
    call TOOL {JSON}              any tool, also one of a hook, such as
                                  call read {"path": "a.txt"}
    hooks                         what hooks are, with an example to try
    make a gate against force pushes
                                  a hook and its test, as a model writes them
    help                          this list]]

local setup = [[
To talk to a real model, type /login, which asks for a key and keeps it, or leave
with /quit and either

  - export the key of a provider (ANTHROPIC_API_KEY or OPENAI_API_KEY), or
  - describe any server that speaks one of their APIs in config.toml, as
    config.example.toml shows, and start pi with --model provider/id.]]

local help = "I am demo/tour: a script inside pi, not a language model. I understand plain wishes:\n\n"
  .. examples .. "\n\nSeveral at once work too: read a.txt and run `date`\n\n" .. setup

local hook_dir = (os.getenv("PI_CODING_AGENT_DIR") or "~/.pi/agent") .. "/hooks"
local hook_file = hook_dir .. "/careful.lua"
local hook_source = [[
-- Asks before a shell command that removes files. Edit me while pi runs.
pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "bash" or not event.input.command:find("rm ", 1, true) then return end
  if not ctx.has_ui then return { block = true, reason = "removing files needs a user to confirm it" } end
  if not ctx.ui.confirm("Remove files?", event.input.command) then
    return { block = true, reason = "Blocked by user" }
  end
end)
]]

local about_hooks = "Hooks are Lua files that see every step and may change it: prompts, requests, tool calls, results. "
  .. "They live in " .. hook_dir .. " (yours) and in .pi/hooks (a project's, run only when you trust it). "
  .. "Saving a file is enough: it takes effect at the next step, without a restart.\n\n"
  .. "This one asks before a command that removes files:\n\n```lua\n" .. hook_source .. "```\n"
  .. "\nShall I write it to " .. hook_file .. "? Say: write the example hook. What a tool wrote does not run "
  .. "before you have approved it, so then look at it with: /hooks approve careful"

-- Wishes ---------------------------------------------------------------------

local function trim(s) return (s:gsub("^%s+", ""):gsub("%s+$", "")) end

-- strip takes politeness and quotes off an argument.
local function strip(s)
  s = trim(s)
  if s:find("%w%.$") then s = s:sub(1, -2) end
  local inner = s:match("^`(.*)`$") or s:match('^"(.*)"$') or s:match("^'(.*)'$")
  return inner or s
end

local function path_of(s)
  s = strip(s)
  s = s:gsub("^the file ", ""):gsub("^file ", ""):gsub("^the ", "")
  return strip(s)
end

local function list(rest)
  local path = path_of((rest:gsub("^the ", ""):gsub("^all ", ""):gsub("^files%s*", ""):gsub("^in ", ""):gsub("^of ", "")))
  if path == "" or path == "here" or path == "directory" or path == "folder" then return { tool = "ls", input = {} } end
  return { tool = "ls", input = { path = path } }
end

local function grep(rest)
  local text, where = rest:match("^(.-)%s+in%s+(%S+)%s*$")
  local input = { pattern = strip(text or rest), literal = true }
  if where then input.path = path_of(where) end
  return { tool = "grep", input = input }
end

local function write(rest)
  if rest:find("example hook", 1, true) then
    return { tool = "write", input = { path = hook_file, content = hook_source } }
  end
  local path, text = rest:match("^(%S+)%s*:%s?(.*)$")
  if not path then path, text = rest:match("^(.-):%s?(.*)$") end
  if not path then return nil end
  return { tool = "write", input = { path = path_of(path), content = text .. "\n" } }
end

local function edit(rest)
  local path, old, new = rest:match("^(.-)%s*:%s?(.-)%s*%->%s*(.*)$")
  if not path or old == "" then return nil end
  return { tool = "edit", input = { path = path_of(path), oldText = strip(old), newText = strip(new) } }
end

-- call is any tool with its arguments as they are: call greet {"name": "you"}.
local function call(rest)
  local tool, arguments = rest:match("^([%w_%-]+)%s*(.*)$")
  local input = tool and strip(arguments):match("^{.*}$") and json.decode(strip(arguments))
  return input and { tool = tool, input = input } or nil
end

local verbs = {
  list = list, ls = list,
  read = function(rest) return { tool = "read", input = { path = path_of(rest) } } end,
  cat = function(rest) return { tool = "read", input = { path = path_of(rest) } } end,
  find = function(rest) return { tool = "find", input = { pattern = path_of(rest) } } end,
  grep = grep, search = function(rest) return grep((rest:gsub("^for ", ""))) end,
  run = function(rest) return { tool = "bash", input = { command = strip(rest) } } end,
  write = write, create = write,
  edit = edit, change = edit,
  call = call,
}
verbs.show = verbs.read
verbs.open = verbs.read
verbs.execute = verbs.run

-- only_words is what the rest of a wish has to be for a verb that is also an
-- everyday word, so that "open questions" is no file.
local needs_argument = { read = true, cat = true, find = true, grep = true, search = true, run = true, show = true, open = true, execute = true }

local function wish_of(text)
  local verb, rest = text:match("^(%a+)%s*(.*)$")
  verb = verb and verbs[verb:lower()]
  if not verb then return nil end
  if rest == "" and needs_argument[text:match("^%a+"):lower()] then return nil end
  return verb(rest)
end

local polite = { "^please%s+", "^can you%s+", "^could you%s+", "^would you%s+", "^now%s+", "^then%s+", "^and%s+", "^also%s+", "^me%s+" }

local function plain(s)
  s = trim(s)
  local again = true
  while again do
    again = false
    for _, p in ipairs(polite) do
      local head = s:lower():match(p)
      if head then
        s, again = trim(s:sub(#head + 1)), true
      end
    end
  end
  return s
end

local breaks = { ";%s*", "%s+and%s+", ",%s*" }

-- next_break finds where the next wish of a line begins: after a separator that
-- is followed by a verb, outside backquotes.
local function next_break(line, from)
  local best, after
  for _, pattern in ipairs(breaks) do
    local init = from
    while true do
      local s, e = line:find(pattern, init)
      if not s then break end
      local _, quotes = line:sub(1, s - 1):gsub("`", "")
      local word = plain(line:sub(e + 1)):match("^(%a+)")
      if quotes % 2 == 0 and word and verbs[word:lower()] and (not best or s < best) then
        best, after = s, e + 1
        break
      end
      init = e + 1
    end
  end
  return best, after
end

-- swallows says that the argument of a wish is the rest of its line, whatever
-- words are in it.
local function swallows(text)
  local verb, rest = plain(text):match("^(%a+)%s*(.*)$")
  verb = verb and verb:lower()
  if verb == "call" then return rest:match("^[%w_%-]+%s*`?{") ~= nil end
  return (verb == "write" or verb == "create" or verb == "edit" or verb == "change") and rest:find(":", 1, true) ~= nil
end

local function clauses(line)
  local found = {}
  while line ~= "" do
    local at, after
    if swallows(line) then
      at = line:match(plain(line):lower():find("^call%s") and "}`?%s*();%s*%a" or "();%s*%a") -- none in the JSON of a call
      if at then after = at + 1 end
    else
      at, after = next_break(line, 1)
    end
    found[#found + 1] = plain(at and line:sub(1, at - 1) or line)
    line = at and line:sub(after) or ""
  end
  return found
end

local function wishes_of(prompt)
  local wishes, unknown = {}, {}
  local whole = prompt .. "\n"
  for line in whole:gmatch("(.-)\n") do
    for _, clause in ipairs(clauses(trim(line))) do
      local wish = wish_of(clause)
      if wish then
        wishes[#wishes + 1] = wish
      elseif clause ~= "" then
        unknown[#unknown + 1] = clause
      end
    end
  end
  return wishes, unknown
end

-- Answers --------------------------------------------------------------------

local function text_of(message)
  if type(message.content) == "string" then return message.content end
  local parts = {}
  for _, block in ipairs(message.content) do
    if block.type == "text" then parts[#parts + 1] = block.text end
    if block.type == "image" then parts[#parts + 1] = "[image " .. block.mime_type .. "]" end
  end
  return table.concat(parts, "\n")
end

local function lines_of(text)
  local lines = {}
  local whole = text:gsub("\n$", "") .. "\n"
  for line in whole:gmatch("(.-)\n") do lines[#lines + 1] = line end
  if #lines == 1 and lines[1] == "" then return {} end
  return lines
end

-- cut takes the notice that a tool puts behind what it left out off the lines.
local function cut(lines)
  local n = #lines
  if n < 3 or lines[n - 1] ~= "" or not lines[n]:match("^%[.* of .*%]$") then return nil end
  local notice = table.remove(lines)
  table.remove(lines)
  return notice
end

-- head is the beginning of some lines, as Markdown shows them as they are.
local function head(lines, n)
  local shown = {}
  for i = 1, math.min(n, #lines) do shown[i] = "    " .. lines[i] end
  if #lines > n then shown[#shown + 1] = "    … and " .. (#lines - n) .. " more lines" end
  return table.concat(shown, "\n")
end

local function count(n, one, many) return n == 1 and ("1 " .. one) or (n .. " " .. many) end

local tell = {
  ls = function(input, lines)
    return (input.path or "This directory") .. " has " .. count(#lines, "entry", "entries") .. ":\n\n" .. head(lines, 40)
  end,
  read = function(input, lines)
    return input.path .. " has " .. count(#lines, "line", "lines") .. ":\n\n" .. head(lines, 20)
  end,
  find = function(input, lines)
    return count(#lines, "file matches ", "files match ") .. input.pattern .. ":\n\n" .. head(lines, 40)
  end,
  grep = function(input, lines)
    return count(#lines, "line contains ", "lines contain ") .. input.pattern .. ":\n\n" .. head(lines, 20)
  end,
  bash = function(input, lines)
    if #lines == 0 or #lines == 1 and lines[1] == "(no output)" then return "`" .. input.command .. "` printed nothing." end
    return "`" .. input.command .. "` printed " .. count(#lines, "line", "lines") .. ":\n\n" .. head(lines, 20)
  end,
  write = function(input, lines) return "Done: " .. (lines[1] or input.path) end,
  edit = function(input, lines) return "Done: " .. (lines[1] or input.path) end,
}

local function nothing_found(name, text)
  return (name == "find" or name == "grep" or name == "ls") and (text:match("^No ") or text:match("^no ") or text:match("^%(") or text == "")
end

local function answer_for(call, result)
  local text = text_of(result)
  if result.is_error then return "`" .. call.name .. "` did not work: " .. text end
  if nothing_found(call.name, text) then return "`" .. call.name .. "` found nothing." end
  local teller = tell[call.name]
  if not teller then return call.name .. " said:\n\n" .. head(lines_of(text), 20) end
  local lines = lines_of(text)
  local notice = cut(lines)
  local answer = teller(call.arguments, lines)
  return notice and answer .. "\n\n" .. notice or answer
end

-- last_turn returns the calls of the last assistant message and the results that
-- follow it, or nil if the user spoke last.
local function last_turn(messages)
  local results, i = {}, #messages
  while i > 0 and messages[i].role == "toolResult" do
    results[messages[i].tool_call_id] = messages[i]
    i = i - 1
  end
  local message = messages[i]
  if i == #messages or not message or message.role ~= "assistant" then return nil end
  local calls = {}
  for _, block in ipairs(message.content) do
    if block.type == "toolCall" then calls[#calls + 1] = block end
  end
  return calls, results
end

-- Streaming ------------------------------------------------------------------

local function say(emit, kind, text)
  for word, gap in text:gmatch("(%S*)(%s*)") do
    if word ~= "" or gap ~= "" then emit { type = kind, text = word .. gap } end
  end
end

local function available(tools, name)
  for _, tool in ipairs(tools) do
    if tool.name == name then return true end
  end
  return false
end

local function call_tools(request, emit, wishes)
  local names = {}
  for _, wish in ipairs(wishes) do names[#names + 1] = wish.tool end
  say(emit, "thinking", "The user asks for " .. count(#wishes, "thing", "things") .. "; I call " .. table.concat(names, ", ") .. ".")
  for i, wish in ipairs(wishes) do
    if not available(request.tools, wish.tool) then
      say(emit, "text", "The tool " .. wish.tool .. " is not active here. ")
    end
    emit { type = "tool_call", id = "tour_" .. #request.messages .. "_" .. i, name = wish.tool, arguments = wish.input }
  end
  return "toolUse"
end

-- A gate ---------------------------------------------------------------------
-- Asked for a gate against force pushes, it does what a model does: it reads the
-- guide, writes the hook and its test, checks both, and says what waits for the
-- user. Hook and test are those of the guide.

local gate_file = hook_dir .. "/no_force_push.lua"
local gate_test = hook_dir .. "/no_force_push_test.lua"

local function wants_gate(prompt)
  local lower = prompt:lower()
  return lower:find("force push", 1, true) ~= nil and (lower:find("gate", 1, true) or lower:find("hook", 1, true)) ~= nil
end

-- program is how a command calls pi, as the system prompt says it.
local function program(request) return request.system:match("`([^`]*) docs hooks %-%-section brief`") or "pi" end

local function begin_gate(request, emit)
  say(emit, "thinking", "A hook is wanted. First I read how hooks are written.")
  return call_tools(request, emit, { { tool = "bash", input = { command = program(request) .. " docs hooks --section brief" } } })
end

-- go_on_with_gate makes the next step after calls that were part of this work; nil for others.
local function go_on_with_gate(request, emit, calls, results)
  local call = calls[1]
  local result = call and results[call.id]
  local command = call and call.name == "bash" and call.arguments.command or ""
  if not result or result.is_error then return nil end
  if command:find(" docs hooks --section brief", 1, true) then
    local hook, test = text_of(result):match("```lua\n(.-)```.-```\n(.-)```")
    if not test then return nil end
    say(emit, "thinking", "I write the hook, and its test beside it.")
    return call_tools(request, emit, {
      { tool = "write", input = { path = gate_file, content = hook } }, { tool = "write", input = { path = gate_test, content = test } },
    })
  elseif call.name == "write" and call.arguments.path == gate_file then
    local check = program(request) .. " hooks check " .. gate_file .. " && " .. program(request) .. " test " .. gate_test
    say(emit, "thinking", "I check what it does, and run the test.")
    return call_tools(request, emit, { { tool = "bash", input = { command = check } } })
  elseif command:find(" hooks check " .. gate_file, 1, true) then
    say(emit, "text", "The gate is in " .. gate_file .. ", its test beside it:\n\n" .. head(lines_of(text_of(result)), 20)
      .. "\n\nIt blocks git pushes with --force or -f. What I wrote does not run before you have approved it: "
      .. "/hooks approve no_force_push. Then say: run `git push --force`")
    return "stop"
  end
end

-- Notes ----------------------------------------------------------------------
-- A conversation that is handed over as text, to be summed up, is no wish: the
-- notes tell what was asked for in it, and which tools were called how often.

-- told is the conversation in the last message, if no tools come with it.
local function told(request)
  local last = request.messages[#request.messages]
  if #request.tools > 0 or not last then return nil end
  return text_of(last):match("<conversation>\n(.*)\n</conversation>"), text_of(last):match("<notes>\n(.*)\n</notes>")
end

local function said_by(conversation, who)
  local texts = {}
  for from, text in conversation:gmatch('<message from="([^"]*)"[^>]*>\n(.-)\n</message>') do
    if from == who or who == "tool" and from:find("^tool ") then texts[#texts + 1] = text end
  end
  return texts
end

local function write_notes(emit, conversation, notes)
  say(emit, "text", notes and notes .. "\n\n" or "(Notes of a script that understands nothing: a list of what was asked for.)\n\n")
  for _, text in ipairs(said_by(conversation, "user")) do
    say(emit, "text", "- " .. trim(text):gsub("%s*\n%s*", " / ") .. "\n")
  end
  say(emit, "text", count(#said_by(conversation, "tool"), "result of a tool", "results of tools") .. " came back.")
  return "stop"
end

-- Answers --------------------------------------------------------------------

local function is_about_hooks(prompt) return prompt:lower():find("hook", 1, true) ~= nil end

local function asks_for_help(prompt)
  local lower = prompt:lower()
  return lower:find("^%s*help") ~= nil or lower:find("what can you do", 1, true) ~= nil
end

-- The last thing that was said and that makes sense: a hook may have added to
-- the prompt.
local function last_said(messages)
  for i = #messages, 1, -1 do
    if messages[i].role ~= "user" then break end
    local prompt = text_of(messages[i])
    if #wishes_of(prompt) > 0 or is_about_hooks(prompt) or wants_gate(prompt) or asks_for_help(prompt) then return prompt end
  end
  return messages[1] and text_of(messages[#messages]) or ""
end

local function reply(request, emit)
  local conversation, notes = told(request)
  if conversation then return write_notes(emit, conversation, notes) end
  local calls, results = last_turn(request.messages)
  if calls then
    local step = go_on_with_gate(request, emit, calls, results)
    if step then return step end
    local parts = {}
    for _, call in ipairs(calls) do
      local result = results[call.id]
      if result then parts[#parts + 1] = answer_for(call, result) end
    end
    say(emit, "text", table.concat(parts, "\n\n"))
    return "stop"
  end
  local prompt = last_said(request.messages)
  if wants_gate(prompt) then return begin_gate(request, emit) end
  local wishes, unknown = wishes_of(prompt)
  if #wishes > 0 then return call_tools(request, emit, wishes) end
  if is_about_hooks(prompt) then
    say(emit, "thinking", "A question about hooks: I explain them and offer an example.")
    say(emit, "text", about_hooks)
  elseif asks_for_help(prompt) then
    say(emit, "text", help)
  else
    say(emit, "thinking", "I do not know how to do that; I say what I can do.")
    say(emit, "text", "I cannot do that: " .. (unknown[1] or "nothing was asked") .. "\n\n" .. help)
  end
  return "stop"
end

-- Usage ----------------------------------------------------------------------

-- tokens is about what a provider would count for a request.
local function tokens(request)
  local bytes = #request.system
  for _, tool in ipairs(request.tools) do
    bytes = bytes + #tool.name + #tool.description + #json.encode(tool.parameters or {})
  end
  for _, message in ipairs(request.messages) do
    bytes = bytes + #text_of(message)
    for _, block in ipairs(type(message.content) == "table" and message.content or {}) do
      if block.type == "toolCall" then bytes = bytes + #block.name + #json.encode(block.arguments) end
    end
  end
  return math.ceil(bytes / 4)
end

pi.provider("demo", {
  models = { { id = "tour", name = "Demo tour (a script, no model)", context_window = 200000, max_tokens = 8192, input = { "text" } } },
  stream = function(request, emit)
    local output = 0
    local stop = reply(request, function(delta)
      if delta.type == "thinking" and request.thinking_level == "off" then return end
      output = output + math.ceil(#(delta.text or "") / 4)
      emit(delta)
    end)
    emit { type = "usage", input = tokens(request), output = output }
    emit { type = "stop", reason = stop }
  end,
})
