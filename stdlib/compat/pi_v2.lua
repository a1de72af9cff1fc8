-- Hooks of pi, the TypeScript one, of the time of its hooks; some names of later
-- versions with them.

local c = ...
local m, rows = c.members, c.rows

local function plain(v) return c.host.restyle(v) end

local function resumed(event) return event.reason == "resume" end

local function styled(...)
  local names = { ... }
  return function(t, event)
    for _, name in ipairs(names) do t[name] = plain(event[name]) end
  end
end

-- Where the entry stands among all entries of the file.
local function branch_place(t, event)
  t.entry_index = nil
  for i, entry in ipairs(c.ctx().session.entries()) do
    if entry.id == event.entry_id then t.entry_index = i end
  end
end

local function context_lists(t, event)
  t.entries, t.messages = c.host.restyle_branch(event.entries), plain(event.messages)
end

local events = {
  { name = "session_start", fields = {}, when = rows.at_start, tells = true,
    rule = "for the reasons startup and reload only; others have session_switch, session_new, session_branch" },
  { name = "session_before_switch", fields = { "target_session_file" }, results = { "cancel" }, when = resumed,
    rule = "for /resume only; /new has session_before_new; the first cancel stops" },
  { name = "session_switch", fields = { "previous_session_file" }, when = resumed, tells = true, rule = "for /resume only" },
  { name = "session_before_new", fields = {}, results = { "cancel" }, rule = "the first cancel stops" },
  { name = "session_new", fields = {}, tells = true },
  { name = "session_before_branch", fields = { "entry_index", "entry_id" }, results = { "cancel", "skip_conversation_restore" },
    adds = { "entry_index" }, fill = branch_place, rule = "entry_index counts the entries of the file; the first cancel stops" },
  { name = "session_branch", fields = { "previous_session_file" }, tells = true },
  { name = "session_before_compact", fields = { "preparation", "branch_entries", "custom_instructions", "signal" },
    results = { "cancel", "compaction" }, adds = { "branch_entries", "messages" }, fill = styled("branch_entries", "messages"),
    rule = "the first cancel stops, otherwise the last answer counts" },
  { name = "session_compact", fields = { "compaction_entry", "from_hook", "from_extension" }, tells = true,
    adds = { "from_extension" }, fill = rows.from_extension },
  { name = "session_before_tree", fields = { "preparation", "signal" }, results = { "cancel", "summary" },
    rule = "the first cancel stops; summary counts if preparation.user_wants_summary" },
  { name = "session_tree", fields = { "new_leaf_id", "old_leaf_id", "summary_entry", "from_hook", "from_extension" }, tells = true,
    adds = { "from_extension" }, fill = rows.from_extension },
  { name = "session_shutdown", fields = {}, when = rows.at_end, tells = true, rule = "for the reasons quit and reload only" },

  { name = "before_agent_start", fields = { "prompt", "images" }, results = { "message" }, adds = { "images" }, fill = rows.with_images,
    rule = "all messages are kept, in order" },
  { name = "agent_start", fields = {}, tells = true },
  { name = "agent_end", fields = { "messages" }, tells = true, adds = { "messages" }, fill = styled("messages") },
  { name = "turn_start", fields = { "turn_index", "timestamp" }, tells = true },
  { name = "turn_end", fields = { "turn_index", "message", "tool_results" }, tells = true },
  { name = "context", fields = { "entries", "messages" }, results = { "messages" }, adds = { "entries", "messages" }, fill = context_lists,
    rule = "chained; an element may be a message, or {message, entry_index}" },
  { name = "tool_call", fields = { "tool_name", "tool_call_id", "input" }, results = { "block", "reason" }, gate = true,
    answer = rows.decision, rule = "the first block stops; a change of input in place has no effect: return it" },
  { name = "tool_result", fields = { "tool_name", "tool_call_id", "input", "content", "details", "is_error" },
    results = { "content", "details", "is_error" }, rule = "field by field, each sees earlier edits" },
  rows.input, rows.user_bash,
}

local no_ui = {
  set_editor_component = "use custom with ctx.ui.field, which has a line of its own",
  on_terminal_input = "use shortcut for a key, custom for all of them",
  set_theme = "the colours are the user's, and theme.fg paints with them",
  paste_to_editor = "use set_editor_text",
}

return {
  events = events, no_ui = no_ui,
  no_events = {
    session = "use session_start, session_switch, session_new",
    branch = "use session_before_branch",
    session_before_fork = "use session_before_branch",
    session_fork = "use session_branch",
    resources_discover = "there is no such event; instructions are AGENTS.md files",
    context_with_system = "use before_provider_request",
    cache_warming_decision = "there is no such event",
  },
  members = m.joined(m.commands, m.tools, m.messages, m.rest, m.guards),
  context = m.joined(m.context, {
    ui = m.ui(no_ui),
    session_manager = m.session_manager(plain), model_registry = m.model_registry(),
    rebuild_context = function() return plain(c.ctx().rebuild_context()) end,
  }),
  live = {
    entries = function(ours) return c.host.restyle_branch(ours.entries) end,
    messages = function(ours) return plain(ours.messages) end,
  },
}
