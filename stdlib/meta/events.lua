---@meta _

-- The events. This file is generated: what is said here stands in luahooks/event.
-- A handler of an asking event may return what is in its result class. A key that
-- is not in there is an error; nil, and an empty table, are no opinion.

--- Asks whether hooks of a project may run, and in an event of its own whether its MCP servers may be used. Only your own hooks and those of the command line are asked. In a terminal they can ask the user: `confirm`, `select` and `input` work line by line, for there is no prompt yet. Programs do not run; `fs` reads and `git` looks, as `git.remotes()` does. A remote is text that the clone brings and proves nothing: whoever made the clone wrote it.
---@class pi.ProjectTrustEvent
---@field type "project_trust"
---@field cwd string the project
---@field files pi.TrustFile[] what would run

--- What a handler of `project_trust` may return.
---@class pi.ProjectTrustResult
---@field trusted? false|table<string, boolean> false: none; a table accepts the files that it names by their `sha256`
---@field remember? boolean with a table in `trusted`: what it accepts is approved for later runs too, as if you had said always; a row and `pi trust --list` say which hook did

--- Settings and hooks are loaded, and there is no session yet. What is sent now waits for it; files are written, programs run and servers asked at once.
---@class pi.AppStartEvent
---@field type "app_start"

--- Asks where sessions are kept, at the start; not with `--session-dir`. `pi sessions` asks no hooks: `--session-dir` tells it too.
---@class pi.SessionDirectoryEvent
---@field type "session_directory"
---@field cwd string the working directory

--- What a handler of `session_directory` may return.
---@class pi.SessionDirectoryResult
---@field dir? string the directory

--- A session has become the current one; also after a reload, then only for the hook that was loaded anew.
---@class pi.SessionStartEvent
---@field type "session_start"
---@field reason string `startup`, `reload`, `new`, `resume` or `branch`; in a child `agent`
---@field session_id string
---@field session_file? string nil when nothing is saved
---@field previous_session_file? string the session before it

--- Asks before another session becomes the current one.
---@class pi.SessionBeforeSwitchEvent
---@field type "session_before_switch"
---@field reason string `new` or `resume`
---@field target_session_file? string the other session

--- What a handler of `session_before_switch` may return.
---@class pi.SessionBeforeSwitchResult
---@field cancel? boolean stay in this session

--- Another session is the current one.
---@class pi.SessionSwitchEvent
---@field type "session_switch"
---@field reason string `new` or `resume`
---@field previous_session_file? string the session that was left

--- Asks before an empty session is started, by `/new` or a hook.
---@class pi.SessionBeforeNewEvent
---@field type "session_before_new"
---@field session_id string of the session that would be left

--- What a handler of `session_before_new` may return.
---@class pi.SessionBeforeNewResult
---@field cancel? boolean stay in this session

--- An empty session was started.
---@class pi.SessionNewEvent
---@field type "session_new"
---@field session_id string

--- Asks before the way to an entry is copied into a session of its own.
---@class pi.SessionBeforeBranchEvent
---@field type "session_before_branch"
---@field entry_id string where the new session would end; of a prompt of the user: before which it would
---@field entry_index integer where that entry stands on the way to it, from 1; on this branch that is its place in `ctx.entries`

--- What a handler of `session_before_branch` may return.
---@class pi.SessionBeforeBranchResult
---@field cancel? boolean stay in this session
---@field skip_conversation_restore? boolean take all of this branch along, not only the way to the entry

--- The way to an entry was copied into a session of its own.
---@class pi.SessionBranchEvent
---@field type "session_branch"
---@field previous_session_file? string the session that was left

--- Asks before the context is shortened. A hook may cancel, or bring the summary itself.
---@class pi.SessionBeforeCompactEvent
---@field type "session_before_compact"
---@field preparation pi.CompactionPreparation what would happen
---@field branch_entries pi.Entry[] the current branch
---@field messages pi.Message[] what the summary would be made of
---@field custom_instructions? string what the user wants it to look at
---@field model? pi.ModelRef who would write it
---@field reason string `manual`, `threshold` or `overflow`
---@field will_retry boolean the request that was too long is sent again afterwards
---@field signal pi.Signal ends when the user interrupts

--- What a handler of `session_before_compact` may return.
---@class pi.SessionBeforeCompactResult
---@field cancel? boolean leave the context as it is
---@field compaction? pi.CompactionDraft the summary, and where what is kept begins
---@field summary? string only the summary; what is kept is as prepared

--- Asks what the model is told to summarise with.
---@class pi.SessionCompactingEvent
---@field type "session_compacting"
---@field session_id string
---@field messages pi.Message[] what the summary is made of

--- What a handler of `session_compacting` may return.
---@class pi.SessionCompactingResult
---@field context? string[] added to the request for the summary
---@field prompt? string the request for the summary, whole
---@field preserve_data? table kept in the details of the entry

--- The context was shortened.
---@class pi.SessionCompactEvent
---@field type "session_compact"
---@field compaction_entry pi.Entry
---@field summary string
---@field from_hook boolean a hook wrote the summary
---@field reason string `manual`, `threshold` or `overflow`
---@field will_retry boolean the request that was too long is sent again now

--- The context was not shortened.
---@class pi.SessionCompactFailedEvent
---@field type "session_compact_failed"
---@field reason string `manual`, `threshold` or `overflow`
---@field error_message? string
---@field aborted boolean somebody interrupted, or a hook did not want it
---@field will_retry boolean
---@field from_hook boolean it was the summary of a hook

--- Asks before the session moves to another entry of its tree.
---@class pi.SessionBeforeTreeEvent
---@field type "session_before_tree"
---@field preparation pi.TreePreparation what would happen
---@field signal pi.Signal ends when the user interrupts

--- What a handler of `session_before_tree` may return.
---@class pi.SessionBeforeTreeResult
---@field cancel? boolean stay here
---@field summary? pi.BranchSummaryDraft the summary, if the user wants one
---@field custom_instructions? string what the summary should look at
---@field replace_instructions? boolean they are the whole request for the summary
---@field label? string names the entry, or the summary if there is one

--- The session has moved to another entry of its tree.
---@class pi.SessionTreeEvent
---@field type "session_tree"
---@field new_leaf_id? string the entry that the conversation ends with now; nil if it is empty
---@field old_leaf_id? string
---@field summary_entry? pi.Entry of what was left behind
---@field from_hook boolean a hook wrote the summary

--- The session got a name, or lost it.
---@class pi.SessionInfoChangedEvent
---@field type "session_info_changed"
---@field name? string

--- The session ends, on every way out. All hooks together have 2 seconds; what is cut off then is said. Nothing is sent any more.
---@class pi.SessionShutdownEvent
---@field type "session_shutdown"
---@field reason string `quit`, `reload`, `new`, `resume` or `branch`
---@field target_session_file? string the session that comes after it

--- A line as a user or a program has handed it in, before skills, templates and files named with `@` are looked for in it. Commands of the program and of hooks run before it, and so does `!`; an unknown `/word` comes here first, and is refused if nobody takes it. It does not come for what hooks send, nor for answers of dialogs.
---@class pi.LineEvent
---@field type "line"
---@field text string as it was typed
---@field attachments pi.Block[] what a client or the prompt line sends with it; files that the text names are not among them yet
---@field source string `interactive`, `print`, `json`, `rpc` or `acp`
---@field streaming_behavior? string while the agent works: `steer` or `follow_up`

--- What a handler of `line` may return.
---@class pi.LineResult
---@field text? string the line instead: read again for skills, templates and `@`, but never as a command or with `!`
---@field attachments? pi.Block[] what goes with it instead; as in `pi.send`
---@field command? string a command to run instead, with its slash and arguments; no line comes of it
---@field handled? boolean that is all; the model is not asked

--- A prompt, before it is written anywhere.
---@class pi.InputEvent
---@field type "input"
---@field text string
---@field attachments pi.Block[]
---@field source string `interactive`, `print`, `json`, `rpc`, `acp` or `hook`
---@field streaming_behavior? string while the agent works: `steer` or `follow_up`
---@field agent? pi.AgentInfo the child in whose session it is; nil in the user's own

--- What a handler of `input` may return.
---@class pi.InputResult
---@field text? string the prompt instead
---@field attachments? pi.Block[] what goes with it instead; as in `pi.send`
---@field handled? boolean that is all; the model is not asked

--- The prompt is in the session, and the model is about to be asked.
---@class pi.BeforeAgentStartEvent
---@field type "before_agent_start"
---@field prompt string
---@field message_type? string the `custom_type` of the message that began the run, as of `pi.send_message` with `trigger_turn`; nil for a prompt
---@field attachments pi.Block[]
---@field system_prompt string the whole of it
---@field sections table<string, string> its parts, by name
---@field agent? pi.AgentInfo the child in whose session it is; nil in the user's own

--- What a handler of `before_agent_start` may return.
---@class pi.BeforeAgentStartResult
---@field message? pi.CustomMessage goes along with the prompt
---@field sections? table<string, string|false> parts that are added, replaced or (false) left out, for this prompt
---@field system_prompt? string the whole system prompt, for this prompt; prefer `sections`

--- The agent begins to work on a prompt.
---@class pi.AgentStartEvent
---@field type "agent_start"

--- The agent has worked on a prompt; once for each. Whether it was interrupted is in `agent_settled`.
---@class pi.AgentEndEvent
---@field type "agent_end"
---@field messages pi.Message[] the new ones
---@field usage pi.Usage of the run
---@field will_retry boolean always false: a request that failed is made again within its turn

--- Asks before the agent stops. A hook may let it go on.
---@class pi.AgentBeforeSettleEvent
---@field type "agent_before_settle"
---@field outcome string `completed`, `aborted` or `error`
---@field messages pi.Message[] the new ones

--- What a handler of `agent_before_settle` may return.
---@class pi.AgentBeforeSettleResult
---@field entries? pi.EntryDraft[] appended to the session, all or none
---@field continue? boolean ask the model once more; it needs something new to answer

--- The agent is done: no retry, no compaction, no queued message follows, and `ctx.is_idle()` is true. A handler may move the session: `ctx.navigate_tree`, `ctx.branch`, `ctx.new_session` and `ctx.switch_session` work here as in commands. The prompt that comes next waits for that, and the program says which hook moved the session. Where a run has begun meanwhile, as after a handler that took its time, they give nil and a message.
---@class pi.AgentSettledEvent
---@field type "agent_settled"
---@field aborted boolean the run was interrupted

--- A turn begins: one answer of the model, and the tools that it calls.
---@class pi.TurnStartEvent
---@field type "turn_start"
---@field turn_index integer of this run, from 0
---@field timestamp integer milliseconds since 1970

--- A turn has ended. A hook may add to the session and let the agent go on.
---@class pi.TurnEndEvent
---@field type "turn_end"
---@field turn_index integer of this run, from 0
---@field message pi.Message the answer
---@field tool_results pi.Message[]
---@field entry_ids string[] what the turn wrote
---@field usage pi.TurnUsage

--- What a handler of `turn_end` may return.
---@class pi.TurnEndResult
---@field entries? pi.EntryDraft[] appended to the session, all or none
---@field continue? boolean ask the model once more, also when it called no tool

--- What the model is about to be shown: before each request, and when a session was loaded or changed.
---@class pi.ContextEvent
---@field type "context"
---@field entries pi.Entry[] the current branch, root first
---@field messages pi.Message[] a copy of yours; change it and return it

--- What a handler of `context` may return.
---@class pi.ContextResult
---@field messages? (pi.Message|pi.PlacedMessage)[] what the model is shown instead; the session stays as it is

--- A hook has added as many model requests as it may, and wants one more: the user was asked whether it goes on, where there is one to ask. At `stop` the run ends, messages of the hook that wait are dropped, and what it sends is refused until somebody says something: a hook can say here what is left to do.
---@class pi.ContinuationLimitEvent
---@field type "continuation_limit"
---@field hook string its name; `pi.hook.name` is your own
---@field used integer the requests that count, of all hooks without a limit of their own together if this one has none
---@field limit integer how many there may be: `max_continuations`, that of `[hook.NAME]`, or what the user allowed
---@field answer string `stop`, also where nobody was asked; `more`: as many again; `until_interrupted`: until the user interrupts, types a prompt or goes to another session

--- The body of a request, as it will be sent.
---@class pi.BeforeProviderRequestEvent
---@field type "before_provider_request"
---@field payload table the JSON of the provider's own API
---@field provider string
---@field model string

--- What a handler of `before_provider_request` may return.
---@class pi.BeforeProviderRequestResult
---@field payload? table is sent instead

--- The headers of a request. The key reads `…`.
---@class pi.BeforeProviderHeadersEvent
---@field type "before_provider_headers"
---@field headers table<string, string>
---@field provider string
---@field model string

--- What a handler of `before_provider_headers` may return.
---@class pi.BeforeProviderHeadersResult
---@field headers? table<string, string|false> set, or (false) left out

--- The provider has begun to answer.
---@class pi.AfterProviderResponseEvent
---@field type "after_provider_response"
---@field provider string
---@field model string
---@field status integer of HTTP
---@field headers table<string, string>

--- A message of the model begins; with the option `roles = "all"` of `pi.on` also any other message, right before its `message_end`. One without a `message_end` before the next begins was cut off, and counts as nothing.
---@class pi.MessageStartEvent
---@field type "message_start"
---@field message pi.Message

--- A piece of an answer. The stream does not wait for handlers: what comes meanwhile is joined.
---@class pi.MessageUpdateEvent
---@field type "message_update"
---@field message pi.Message as far as it has come
---@field delta pi.Delta what is new

--- What a handler of `message_update` may return.
---@class pi.MessageUpdateResult
---@field abort? pi.Abort stop the answer, and ask again

--- A message is complete. What a handler makes of it is what is stored and sent. With the option `roles = "all"` of `pi.on` it comes for messages of all roles, before they are stored: prompts (`user`), results of tools (`toolResult`), messages of hooks (`custom`), commands of the user (`bashExecution`). Of those `content` and `details` count, of a command its `output`; ids, the name of the tool and `is_error` stay, and so does an empty content.
---@class pi.MessageEndEvent
---@field type "message_end"
---@field message pi.Message

--- What a handler of `message_end` may return.
---@class pi.MessageEndResult
---@field message? pi.Message instead; of the same role

--- Another model was chosen: by the user or a hook (`set`), with Ctrl+P (`cycle`), or with another session (`restore`).
---@class pi.ModelSelectEvent
---@field type "model_select"
---@field model pi.Model
---@field previous_model? pi.Model
---@field provider string
---@field model_id string
---@field previous_provider? string
---@field previous_model_id? string
---@field thinking_level string what the model is asked for, which may be less than what was chosen
---@field source string `set`, `cycle` or `restore`

--- The model is asked for another thinking level than before: one was chosen, or the model is another.
---@class pi.ThinkingLevelSelectEvent
---@field type "thinking_level_select"
---@field level string
---@field previous_level string

--- Another mode is on than before, see `pi.mode`; also after the start and after a change of the session, if the session was left in one.
---@class pi.ModeSelectEvent
---@field type "mode_select"
---@field mode? string nil: none is on
---@field previous_mode? string
---@field source string where the wish came from: `flag`, `key`, `command`, `hook`, `client`, `restore` or, in a child, `parent`

--- The program waits for the user.
---@class pi.UiPromptStartEvent
---@field type "ui_prompt_start"
---@field kind string `select`, `confirm`, `input`, `editor`, `custom` or `run`
---@field title? string

--- The user has answered.
---@class pi.UiPromptEndEvent
---@field type "ui_prompt_end"
---@field kind string `select`, `confirm`, `input`, `editor`, `custom` or `run`
---@field title? string

--- The window of the terminal came to the front, or another one did. Where the terminal does not tell, and without one, it never comes; of two changes that follow each other at once only the last is told. The program asks the terminal to tell only while a hook listens, or `[ui] notify` is on.
---@class pi.FocusEvent
---@field type "focus"
---@field focused boolean whether it is in front now

--- A dialog of a hook has opened, `ctx.ui.confirm`, `select`, `input` or `editor`. A hook that may (`answers = true` in `[hook.NAME]` of the user's config.toml) answers it from elsewhere with `pi.answer`: the first answer counts. Questions of the program itself, as whether a hook is trusted, do not come here.
---@class pi.UiPromptEvent
---@field type "ui_prompt"
---@field id string for `pi.answer`
---@field kind string `confirm`, `select`, `input` or `editor`
---@field title string
---@field message? string
---@field choices? pi.PromptChoice[] of select
---@field multi boolean several of them may be taken
---@field hook string the name of the hook that asks

--- Another hook failed; its own errors a hook does not hear of. Nor is anybody told of an error in a handler of `hook_error`, and of what it sets off: that is only shown.
---@class pi.HookErrorEvent
---@field type "hook_error"
---@field hook string its name
---@field path string
---@field event string what it was called for: an event, `/NAME` for a command, `timer.every`, `load` and the like
---@field error string with file and line
---@field traceback? string
---@field count integer how often this has come from the same handler with the same words; a user is shown the first

--- The context is being shortened.
---@class pi.CompactionStartEvent
---@field type "compaction_start"
---@field reason string `manual`, `threshold` or `overflow`

--- That is over.
---@class pi.CompactionEndEvent
---@field type "compaction_end"
---@field result? pi.Entry
---@field aborted boolean
---@field will_retry boolean
---@field error_message? string

--- The context is being shortened because it is full.
---@class pi.AutoCompactionStartEvent
---@field type "auto_compaction_start"
---@field reason string `threshold` or `overflow`

--- That is over.
---@class pi.AutoCompactionEndEvent
---@field type "auto_compaction_end"
---@field result? pi.Entry
---@field aborted boolean
---@field will_retry boolean
---@field error_message? string

--- A request failed for a reason that may pass, and is made again after a while. What came of it so far counts as nothing: the answer begins anew, with another `message_start`.
---@class pi.AutoRetryStartEvent
---@field type "auto_retry_start"
---@field attempt integer that comes then, from 1; the first request is none
---@field max_attempts integer
---@field delay_ms integer until then
---@field error_message string why the request failed

--- It is decided: an answer stands, or the request is given up.
---@class pi.AutoRetryEndEvent
---@field type "auto_retry_end"
---@field success boolean
---@field attempt integer the last
---@field final_error? string why it was given up

--- The model wants a tool to run. An error of a handler blocks the call.
---@class pi.ToolCallEvent
---@field type "tool_call"
---@field tool_name string
---@field tool_call_id string
---@field input table what the tool is called with, as rewritten so far
---@field annotations pi.Annotations what the tool says of what it does
---@field mcp? pi.McpCall the server that the tool is of; nil: it is of none
---@field agent? pi.AgentInfo the child in whose session it is; nil in the user's own

--- What a handler of `tool_call` may return.
---@class pi.ToolCallResult
---@field block? boolean it does not run
---@field reason? string with `block`: what the model is told; without it an error, since who says why means to block
---@field input? table runs with this instead; handlers before this one are asked again
---@field additional_context? string added to what the tool gives back
---@field terminate? boolean with `block`: end the run, if every call of the answer says so

--- A tool has run. Not for calls that were blocked.
---@class pi.ToolResultEvent
---@field type "tool_result"
---@field tool_name string
---@field tool_call_id string
---@field input table what it ran with
---@field content pi.Block[] what the model will read
---@field details any for people and hooks; of the program's tools see `pi.BashDetails` and its neighbours
---@field is_error boolean
---@field usage? pi.Usage of a tool that asked a model
---@field agent? pi.AgentInfo the child in whose session it is; nil in the user's own

--- What a handler of `tool_result` may return.
---@class pi.ToolResultResult
---@field content? string|pi.Block[] instead
---@field details? any instead
---@field is_error? boolean instead
---@field usage? pi.Usage instead
---@field terminate? boolean end the run, if every call of the answer says so

--- A call begins; for each, also one that is blocked.
---@class pi.ToolExecutionStartEvent
---@field type "tool_execution_start"
---@field tool_call_id string
---@field tool_name string
---@field args table

--- A tool tells how far it has come.
---@class pi.ToolExecutionUpdateEvent
---@field type "tool_execution_update"
---@field tool_call_id string
---@field tool_name string
---@field args table
---@field partial_result pi.ToolResult

--- A call has ended; for each, with `is_error` where nothing ran.
---@class pi.ToolExecutionEndEvent
---@field type "tool_execution_end"
---@field tool_call_id string
---@field tool_name string
---@field args table
---@field result pi.ToolResult
---@field is_error boolean
---@field duration_ms integer how long the tool has run, without the time in which it waited for an answer of the user; 0 where nothing ran

--- The user runs a command with `!`. An error of a handler blocks it. After a rewrite the handlers before it are asked again.
---@class pi.UserBashEvent
---@field type "user_bash"
---@field command string
---@field exclude_from_context boolean the model will not see it (`!!`)
---@field cwd string
---@field agent? pi.AgentInfo the child in whose session it is; nil in the user's own

--- What a handler of `user_bash` may return.
---@class pi.UserBashResult
---@field command? string runs in its place
---@field result? pi.BashResult counts as what came of it; nothing runs

--- A shell is about to run a command, of the model or the user, that passed the gates. An error of a handler blocks it.
---@class pi.ShellEvent
---@field type "shell"
---@field command string
---@field cwd string
---@field source string `tool` or `user`
---@field agent? pi.AgentInfo the child in whose session it is; nil in the user's own

--- What a handler of `shell` may return.
---@class pi.ShellResult
---@field wrap? string[] a program and its arguments: it gets the command as one more, verbatim, in the place of `bash -c`

--- An MCP server is in another state: it is started, ready, ended, failed, turned off or no longer one of the session's.
---@class pi.McpServerEvent
---@field type "mcp_server"
---@field server string its name
---@field state string `idle`, `starting`, `ready`, `failed`, `sign-in` (it wants its user to sign in) or `off`
---@field tools integer how many it has, as far as is known
---@field error? string why it cannot be used, or what ended it

--- A tool of an MCP server has another definition than when it was listed first. It is told once.
---@class pi.McpChangeEvent
---@field type "mcp_change"
---@field server string its name
---@field tool string its name at the server
---@field before pi.McpDefinition what the server said of it
---@field after pi.McpDefinition what it says now

--- An agent that a hook uses begins to work: a child of this session. Told here, in the session that uses it; in the child's own `session_start` comes with the reason `agent`.
---@class pi.ChildStartEvent
---@field type "child_start"
---@field name string unique among the children that work
---@field depth integer 1 for a child of your own session
---@field prompt string

--- A child has ended.
---@class pi.ChildEndEvent
---@field type "child_end"
---@field name string
---@field stop_reason string `completed`, `aborted`, `error`, `limit` or `timeout`
---@field usage pi.Usage of it and its own children
---@field text string its last words
