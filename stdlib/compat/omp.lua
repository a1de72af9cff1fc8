-- Hooks of oh-my-pi, of its hook subsystem; some names of later versions with them.

local c = ...
local m, rows, pi = c.members, c.rows, c.pi

-- What the example of ours that emits such an event has in its data.

local function rules_of(t, event)
  t.rules = {}
  for i, rule in ipairs(event.data and event.data.rules or {}) do
    t.rules[i] = type(rule) == "string" and { name = rule } or rule
  end
end

local function todos_of(t, event)
  local data = event.data or {}
  t.todos, t.attempt, t.max_attempts = {}, data.attempt, data.max_attempts
  for i, item in ipairs(data.items or {}) do
    t.todos[i] = { content = item.text, status = item.done and "completed" or "pending" }
  end
end

-- emitted is a row of an event that comes from another hook: the first handler of it says
-- in the hook log which.
local function emitted(row)
  local said
  row.ours, row.tells = "omp:" .. row.name, true
  row.rule = "emitted by " .. row.by .. "; without such a hook it never comes"
  row.on = function(source)
    if not said then
      said = true
      pi.log(("%s: %s comes from a hook such as %s; without one it never comes"):format(c.name, row.name, row.by))
    end
    return pi.on(row.ours, c.wrap(row, source))
  end
  return row
end

local function will_continue(t, event) t.will_continue = event.will_retry end

local events = {
  { name = "session_start", fields = {}, when = rows.at_start, tells = true,
    rule = "for the reasons startup and reload only; others have session_switch and session_branch" },
  { name = "session_before_switch", fields = { "reason", "target_session_file" }, results = { "cancel" }, rule = "for /new and /resume; the first cancel stops" },
  { name = "session_switch", fields = { "reason", "previous_session_file" }, tells = true },
  { name = "session_before_branch", fields = { "entry_id" }, results = { "cancel", "skip_conversation_restore" }, rule = "the first cancel stops" },
  { name = "session_branch", fields = { "previous_session_file" }, tells = true },
  { name = "session_before_compact", fields = { "preparation", "branch_entries", "custom_instructions", "signal" },
    results = { "cancel", "compaction" }, rule = "the first cancel stops, otherwise the last answer counts; an empty one is none" },
  { name = "session.compacting", ours = "session_compacting", fields = { "session_id", "messages" }, results = { "context", "prompt", "preserve_data" },
    group = { rule = "last" }, rule = "the last answer counts whole, over all files" },
  { name = "session_compact", fields = { "compaction_entry", "from_hook", "from_extension" }, tells = true,
    adds = { "from_extension" }, fill = rows.from_extension },
  { name = "session_before_tree", fields = { "preparation", "signal" }, results = { "cancel", "summary" },
    rule = "the first cancel stops; summary counts if preparation.user_wants_summary" },
  { name = "session_tree", fields = { "new_leaf_id", "old_leaf_id", "summary_entry", "from_hook", "from_extension" }, tells = true,
    adds = { "from_extension" }, fill = rows.from_extension },
  { name = "session_shutdown", fields = {}, when = rows.at_end, tells = true, rule = "for the reasons quit and reload only" },

  { name = "context", fields = { "messages", "entries" }, results = { "messages" }, rule = "chained" },
  { name = "before_agent_start", fields = { "prompt", "images" }, results = { "message", "system_prompt" }, adds = { "images" }, fill = rows.with_images,
    group = { rule = "first", keys = { "message" } },
    rule = "of all files the first message is kept; what later handlers give is in the hook log" },
  { name = "agent_start", fields = {}, tells = true },
  { name = "agent_end", fields = { "messages", "will_continue" }, tells = true, adds = { "will_continue" }, fill = will_continue },
  { name = "turn_start", fields = { "turn_index", "timestamp" }, tells = true },
  { name = "turn_end", fields = { "turn_index", "message", "tool_results" }, tells = true },
  { name = "auto_compaction_start", fields = { "reason" }, tells = true },
  { name = "auto_compaction_end", fields = { "result", "aborted", "will_retry", "error_message" }, tells = true },
  { name = "auto_retry_start", fields = { "attempt", "max_attempts", "delay_ms", "error_message" }, tells = true },
  { name = "auto_retry_end", fields = { "success", "attempt", "final_error" }, tells = true },
  emitted { name = "ttsr_triggered", fields = { "rules" }, adds = { "rules" }, fill = rules_of, by = "examples/stream_rules.lua" },
  emitted { name = "todo_reminder", fields = { "todos", "attempt", "max_attempts" }, adds = { "todos", "attempt", "max_attempts" }, fill = todos_of,
    by = "examples/todo.lua" },

  { name = "tool_call", fields = { "tool_name", "tool_call_id", "input" }, results = { "block", "reason", "input", "additional_context" }, gate = true,
    answer = rows.decision, rule = "the first block stops; a change of input in place has no effect: return it" },
  { name = "tool_result", fields = { "tool_name", "tool_call_id", "input", "content", "details", "is_error" },
    results = { "content", "details", "is_error" }, rule = "field by field, each sees earlier edits; is_error counts" },
  rows.input, rows.user_bash,
}

local function no_such(thing) return "there is no such thing here: " .. thing end

-- What a message may be delivered as there.
local function not_aside(function_name, send)
  return function(message, how)
    if type(how) == "table" and how.deliver_as == "aside" then
      error(('%s: %s has no deliver_as = "aside"; use next_turn'):format(function_name, c.name))
    end
    return send(message, how)
  end
end

-- set_status(key, text, {color}): the text painted with the theme.
local function set_status(key, text, opts)
  if text ~= nil and type(opts) == "table" and opts.color then text = m.theme().fg(opts.color, text) end
  return c.ctx().ui.set_status(key, text)
end

local logger = {}
for _, level in ipairs { "debug", "info", "warn", "error" } do
  logger[level] = function(...) return pi.log(level, ...) end
end

local members = m.joined(m.commands, m.tools, m.messages, m.rest, {
  logger = c.layer("logger", logger, {}), exec_command = m.exec,
  send_message = not_aside("send_message", m.messages.send_message),
  send_user_message = not_aside("send_user_message", m.messages.send_user_message),
})

return {
  events = events,
  no_events = {
    session_stop = "use agent_before_settle",
    tool_approval_requested = "use tool_call with ctx.ui.confirm",
    tool_approval_resolved = "use tool_call with ctx.ui.confirm",
    tool_approval_review = "use tool_call with ctx.ui.confirm",
    assistant_message = "use message_end",
    before_subagent_spawn = no_such("subagents"),
    mcp_notification = no_such("notifications of MCP servers"),
    credential_disabled = no_such("credentials that are turned off"),
    goal_updated = no_such("goals"),
    retry_fallback_applied = no_such("a model to fall back to"),
    retry_fallback_succeeded = no_such("a model to fall back to"),
    user_python = no_such("Python of the user"),
    cache_warming_decision = no_such("the warming of caches"),
  },
  members = members,
  no_members = {
    typebox = 'use require "pi.schema"', zod = 'use require "pi.schema"', arktype = 'use require "pi.schema"',
    pi = "require the module that you need",
    discover_and_load_hooks = "pi loads hooks itself", load_hooks = "pi loads hooks itself", HookRunner = "pi loads hooks itself",
  },
  context = m.joined(m.context, {
    ui = m.ui({
      set_editor_component = "use custom with ctx.ui.field, which has a line of its own", on_terminal_input = "use shortcut for a key, custom for all of them",
      set_theme = "the colours are the user's, and theme.fg paints with them", paste_to_editor = "use set_editor_text",
    }, { set_status = set_status }),
    session_manager = m.session_manager(), model_registry = m.model_registry(),
  }),
}
