-- Hooks of marvin, of the plan for its hooks, and of marvin as it became.

local c = ...
local m, rows, pi, host = c.members, c.rows, c.pi, c.host

-- The session

-- session_id is the id of the session; nil before there is one.
local function session_id()
  local ok, id = pcall(function() return c.ctx().session_id end)
  return ok and id or nil
end

local function in_session(t) t.session_id = session_id() end

-- A session that has messages is resumed there, one without is started.
local function begins(event)
  if event.reason == "new" then return true end
  return rows.at_start(event) and #c.ctx().messages == 0
end

local function resumes(event)
  if event.reason == "resume" or event.reason == "branch" then return true end
  return rows.at_start(event) and #c.ctx().messages > 0
end

-- Tokens

local function tokens_of(usage)
  return { input = usage.input, output = usage.output, cache_read = usage.cache_read, cache_write = usage.cache_write, total = usage.total }
end

local function end_of_agent(t, event)
  t.session_id, t.total_tokens = session_id(), tokens_of(event.usage)
  t.context_limit = c.ctx().usage().context_window
end

local function end_of_turn(t, event)
  local usage = event.usage
  t.session_id, t.tokens, t.context_limit, t.usage = session_id(), tokens_of(usage), usage.context_window, nil
  if usage.context_tokens and usage.context_window then
    t.usage = { current = usage.context_tokens, max = usage.context_window, percent = usage.percent }
  end
end

-- Compaction

local spoken = { user = true, assistant = true, toolResult = true }

local function spoken_messages(t, event)
  t.messages = {}
  for _, message in ipairs(event.messages) do
    if spoken[message.role] then t.messages[#t.messages + 1] = message end
  end
end

-- Events whose handlers change a table instead of returning one. changing(row, make, collect)
-- completes the row of one: make(event) returns the fields that row.adds names, for the
-- handler to change, and collect(event, ours) what ours is to be returned. row.output are the
-- fields that event.output may have, where there is one, with the type of each.

local function check_output(row, output)
  if type(output) ~= "table" then error(("%s: event.output is a table to be changed, not a %s"):format(row.name, type(output))) end
  for key, value in pairs(output) do
    local want, got = row.output[key], type(value)
    if got ~= want then
      output[key] = want == "table" and {} or nil -- other handlers may have the same table
      if not want then error(("%s: event.output has no field %q%s"):format(row.name, tostring(key), c.hint(key, row.output))) end
      error(("%s: event.output.%s: expected a %s, got %s"):format(row.name, key, want, got))
    end
  end
end

local function changing(row, make, collect)
  row.on = function(source)
    return pi.on(row.ours, function(ours, ctx)
      local shown, given = c.context(ctx), make(ours)
      local event = host.event(ours, row.name, row.adds, function(t)
        for key, value in pairs(given) do t[key] = value end
      end)
      source(event, shown)
      if row.output then check_output(row, event.output) end
      local result = collect(event, ours) -- no tail call, see luavm.SourceOf
      return result
    end)
  end
  return row
end

-- chat.message: the parts of what was typed.
local function parts_of(event)
  local parts = {}
  if event.text ~= "" then parts[1] = { type = "text", text = event.text } end
  for _, image in ipairs(m.images(event) or {}) do parts[#parts + 1] = image end
  return { input = { session_id = session_id(), text = event.text }, output = { parts = parts } }
end

local function message_of(event, ours)
  if event.output.parts == nil then return nil end
  local texts, attachments, result = {}, {}, {}
  for _, block in ipairs(ours.attachments) do
    if block.type ~= "image" then attachments[#attachments + 1] = block end
  end
  for i, part in ipairs(event.output.parts) do
    if type(part) ~= "table" or part.type == "text" and type(part.text) ~= "string" then
      error(("chat.message: event.output.parts[%d] is no part: a table with type, and text or data"):format(i))
    end
    if part.type == "text" then texts[#texts + 1] = part.text else attachments[#attachments + 1] = part end
  end
  local text = table.concat(texts, "\n")
  if text ~= ours.text then result.text = text end
  if #attachments + #ours.attachments > 0 then result.attachments = attachments end
  return result
end

local function prompt_of(event)
  return { input = { session_id = session_id(), system_prompt = event.system_prompt }, output = { system_prompt = event.system_prompt } }
end

local function changed_prompt(event, ours)
  local now = event.output.system_prompt
  if now ~= ours.system_prompt then return { system_prompt = now } end
end

-- session.before_compact: all handlers of the file change one output. What it says of the
-- request for the summary is returned when that is made.

local output

local function follow_compaction()
  pi.on("session_before_compact", function() output = { context = {} } end)
  pi.on("session_compacting", function()
    local said = output
    output = nil
    if said then return { prompt = said.prompt, context = said.context } end
  end)
end

local before_compact = changing(
  { name = "session.before_compact", ours = "session_before_compact", fields = { "input", "output" }, adds = { "input", "output" },
    output = { cancel = "boolean", prompt = "string", context = "table" },
    rule = "change event.output: cancel, prompt, context; all handlers of a file have the same one" },
  function() return { input = { session_id = session_id() }, output = output } end,
  function(event)
    for i, text in ipairs(event.output.context or {}) do
      if type(text) ~= "string" then
        event.output.context = {}
        error(("session.before_compact: event.output.context[%d]: expected a string, got %s"):format(i, type(text)))
      end
    end
    output = event.output
    if output.cancel then return { cancel = true } end
  end)

local follows
local on_before_compact = before_compact.on
before_compact.on = function(source)
  if not follows then
    follows = true
    follow_compaction()
  end
  return on_before_compact(source)
end

local by_session, first_message = { "session_id" }, { rule = "first", keys = { "message" } }

local events = {
  { name = "app.start", ours = "app_start", fields = {}, tells = true, rule = "what is sent here waits for the session" },
  { name = "session.start", ours = "session_start", fields = by_session, adds = by_session, fill = in_session, when = begins, tells = true,
    rule = "at the start while there are no messages, and for /new" },
  { name = "session.resume", ours = "session_start", fields = by_session, adds = by_session, fill = in_session, when = resumes, tells = true,
    rule = "at the start with messages, for /resume and /branch" },
  { name = "session.before_clear", ours = "session_before_new", fields = by_session, adds = by_session, fill = in_session, results = { "cancel" },
    rule = "the first cancel stops" },
  { name = "session.clear", ours = "session_new", fields = by_session, adds = by_session, fill = function(t) t.session_id = nil end, tells = true,
    rule = "after the change; session_id is nil" },
  { name = "agent.start", ours = "agent_start", fields = by_session, adds = by_session, fill = in_session, tells = true },
  { name = "agent.end", ours = "agent_end", fields = { "session_id", "messages", "total_tokens", "context_limit" },
    adds = { "session_id", "total_tokens", "context_limit" }, fill = end_of_agent, tells = true, rule = "once per prompt" },
  { name = "turn.start", ours = "turn_start", fields = { "session_id", "turn_index" }, adds = by_session, fill = in_session, tells = true },
  { name = "turn.end", ours = "turn_end", fields = { "session_id", "turn_index", "message", "tool_results", "tokens", "context_limit", "usage" },
    adds = { "session_id", "tokens", "context_limit", "usage" }, fill = end_of_turn, tells = true },
  { name = "tool.execute.before", ours = "tool_call", fields = { "session_id", "tool_name", "tool_call_id", "input" }, adds = by_session, fill = in_session,
    results = { "block", "reason", "input" }, gate = true, answer = rows.decision, rule = "the first block stops" },
  { name = "tool.execute.after", ours = "tool_result", fields = { "session_id", "tool_name", "tool_call_id", "input", "content", "details", "is_error" },
    adds = by_session, fill = in_session, results = { "content", "details", "is_error" }, rule = "field by field, each sees earlier edits" },
  { name = "model.change", ours = "model_select", fields = { "previous_provider", "previous_model_id", "new_provider", "new_model_id", "thinking_level" },
    adds = { "new_provider", "new_model_id" }, fill = function(t, event) t.new_provider, t.new_model_id = event.provider, event.model_id end,
    when = function(event) return event.source ~= "restore" end, tells = true, rule = "not where another session brings its model" },
  { name = "compact.before", ours = "session_before_compact", fields = { "messages", "custom_instructions", "model" }, results = { "cancel", "summary" },
    adds = { "messages" }, fill = spoken_messages, group = { rule = "stop" },
    rule = "the first cancel or summary that is not empty ends it: later handlers are not called, in no file" },
  { name = "compact.after", ours = "session_compact", fields = { "summary", "from_hook" }, tells = true },

  before_compact,
  { name = "session.compact", ours = "session_compact", fields = { "session_id", "summary" }, adds = by_session, fill = in_session, tells = true },
  { name = "session.shutdown", ours = "session_shutdown", fields = by_session, adds = by_session, fill = in_session, tells = true,
    when = function(event) return event.reason == "quit" end, rule = "at the end of the program" },
  { name = "agent.before_start", ours = "before_agent_start", fields = { "prompt", "images" }, adds = { "images" }, fill = rows.with_images,
    results = { "message" }, group = first_message, rule = "of all files the first message is kept" },
  changing({ name = "chat.message", ours = "input", fields = { "input", "output" }, adds = { "input", "output" },
    output = { parts = "table" }, rule = "change event.output.parts" }, parts_of, message_of),
  changing({ name = "chat.messages.transform", ours = "context", fields = { "messages" }, adds = {},
    rule = "change event.messages; before every request" }, function() return {} end, function(event) return { messages = event.messages } end),
  changing({ name = "chat.system.transform", ours = "before_agent_start", fields = { "input", "output" }, adds = { "input", "output" },
    output = { system_prompt = "string" }, rule = "change event.output.system_prompt; for this prompt" }, prompt_of, changed_prompt),
}

-- What is sent

-- attachment is what ours knows an attachment by; nil for one that there is no text of.
local function attachment(a)
  if a.type == "image" and a.content ~= nil then return { data = a.content, mime_type = a.mime_type, name = a.file_name } end
  if a.type ~= "document" then return a end
  if a.extracted_text then return { text = a.extracted_text, name = a.file_name } end
  pi.log(("%s: send: %s is left out: it has no extracted_text"):format(c.name, a.file_name or "a document"))
end

local function send(text, attachments)
  if type(attachments) ~= "table" then return m.messages.send(text, attachments) end
  local mapped = {}
  for _, a in ipairs(attachments) do mapped[#mapped + 1] = attachment(a) end
  m.messages.send(text, mapped)
end

local function steer(text) m.messages.send_user_message(text, { deliver_as = "steer" }) end
local function follow_up(text) m.messages.send_user_message(text, { deliver_as = "follow_up" }) end

-- Tools

-- parameters are the JSON Schema of a schema in which properties say that they are optional.
local function parameters(schema)
  local made, required = c.renamed(schema, {}), {}
  made.properties = {}
  for name, property in pairs(schema.properties or {}) do
    made.properties[name] = c.renamed(property, { optional = false })
    if not property.optional then required[#required + 1] = name end
  end
  table.sort(required)
  made.required = schema.required or #required > 0 and required or nil
  if not next(made.properties) then made.properties = nil end
  return made
end

-- register_tool{…, schema, execute(args, ctx)}, or with parameters as the later ones.
local function register_tool(opts)
  if type(opts) ~= "table" or type(opts.schema) ~= "table" then return m.tools.register_tool(opts) end
  local source, mapped = opts.execute, c.renamed(opts, { schema = false })
  mapped.parameters = parameters(opts.schema)
  if type(source) == "function" then
    mapped.execute = function(params, ctx) return (source(params, c.context(ctx))) end
  end
  return pi.tool(mapped)
end

-- ctx.session

local levels = { info = "info", success = "info", warning = "warning", error = "error" }

local function toast(title, message, variant)
  local text = title
  if message and message ~= "" then text = title and title ~= "" and title .. ": " .. message or message end
  return c.ctx().ui.notify(text or "", levels[variant or "info"] or variant)
end

-- new_session{parent_session}: only commands may; elsewhere it is as if a hook were against it.
local function new_session(opts)
  local ok, result, message = pcall(c.ctx().new_session, opts)
  if ok then return c.checked(result, message) end
  if not tostring(result):find("only in commands and shortcuts", 1, true) then error(result, 0) end
  c.ctx().ui.notify("new_session: only in commands and shortcuts", "warning")
  return { cancelled = true }
end

local ends = { stop = "end", length = "max_tokens", toolUse = "tool_use", aborted = "aborted", error = "error" }

-- complete(system, text): what fails is in stop_reason, and in the hook log.
local function complete(system, text)
  local answer, message = require("pi.llm").complete(nil, { system = system, messages = { { role = "user", content = text } } })
  if not answer then
    pi.log("complete: " .. tostring(message))
    return { text = "", stop_reason = tostring(message):find("abort", 1, true) and "aborted" or "error" }
  end
  return { text = require("pi.text").of(answer), stop_reason = ends[answer.stop_reason] or "end" }
end

local session = c.layer("ctx.session", {
  summarize = function() return c.ctx().compact() end,
  toast = toast,
  get_token_usage = function()
    local tokens = c.ctx().usage().tokens
    return tokens and { total = tokens } or nil
  end,
  get_context_limit = function() return c.ctx().usage().context_window end,
  new_session = new_session,
  get_api_key = function(model) return (c.ctx().resolve_api_key(model)) end,
  complete = complete,
}, {}, function() return c.ctx().session end)

return {
  events = events,
  no_events = {
    ["chat.params"] = "use before_provider_request", ["auth.get"] = "use pi.provider", ["model.resolve"] = "use ctx.set_model in a command",
    ["session.before_resume"] = "use session_before_switch", ["session.before_branch"] = "use session_before_branch",
  },
  members = m.joined(m.messages, {
    send = send, steer = steer, follow_up = follow_up, register_tool = register_tool,
    register_command = m.commands.register_command, register_shortcut = m.commands.register_shortcut,
    is_idle = function() -- before there is a session nothing works
      local ok, idle = pcall(function() return c.ctx().is_idle() end)
      return not ok or idle
    end,
  }),
  context = m.joined(m.context, {
    ui = m.ui {}, session_manager = m.session_manager(), model_registry = m.model_registry(), session = session,
    steer = steer, follow_up = follow_up, send_user_message = m.messages.send_user_message,
  }),
  live = { config_dir = function() return pi.paths.agent end, session_id = session_id },
  no_context = { exec_interactive = "use ctx.exec" },
}
