---@meta _

-- The events: what each carries, and what a handler of an asking one may return.
-- A key that is not in a result class is an error; nil, and an empty table, mean
-- that the handler has no opinion.

-- Sessions --------------------------------------------------------------------

--- Asks whether hooks of a project may run. Only your own hooks and those of the command line are asked.
---@class pi.ProjectTrustEvent
---@field type "project_trust"
---@field cwd string the project
---@field files pi.TrustFile[] what would run

--- One file that would run.
---@class pi.TrustFile
---@field path string
---@field sha256 string of its bytes, in hexadecimal
---@field size integer bytes

--- What a handler of `project_trust` may return.
---@class pi.ProjectTrustResult
---@field trusted? false|table<string, boolean> false: none; a table accepts the files that it names by their `sha256`

--- Settings and hooks are loaded, and there is no session yet. What is sent now waits for it.
---@class pi.AppStartEvent
---@field type "app_start"

--- Asks where sessions are kept, at the start; not with `--session-dir`.
---@class pi.SessionDirectoryEvent
---@field type "session_directory"
---@field cwd string the working directory

--- What a handler of `session_directory` may return.
---@class pi.SessionDirectoryResult
---@field dir? string the directory

--- A session has become the current one; also after a reload, then only for the hook that was loaded anew.
---@class pi.SessionStartEvent
---@field type "session_start"
---@field reason string `startup`, `reload`, `new`, `resume` or `branch`
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
---@field entry_id string where the new session would end
---@field entry_index integer where that entry stands in `ctx.entries`, from 1

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
---@field custom_instructions? string what the person wants it to look at
---@field model? pi.ModelRef who would write it
---@field reason string `manual`, `threshold` or `overflow`
---@field will_retry boolean the request that was too long is sent again afterwards
---@field signal pi.Signal ends when the person interrupts

--- What a handler of `session_before_compact` may return.
---@class pi.SessionBeforeCompactResult
---@field cancel? boolean leave the context as it is
---@field compaction? pi.CompactionDraft the summary, and where what is kept begins
---@field summary? string only the summary; what is kept is as prepared

--- A summary that a hook brings.
---@class pi.CompactionDraft
---@field summary string
---@field first_kept_entry_id? string where what the model still sees begins; as prepared unless said
---@field tokens_before? integer as prepared unless said
---@field details? any kept in the entry

--- What a compaction would do.
---@class pi.CompactionPreparation
---@field first_kept_entry_id string where what the model still sees begins
---@field first_kept_entry_index integer where that entry stands in `branch_entries`, from 1
---@field messages_to_summarize pi.Message[]
---@field turn_prefix_messages pi.Message[] the beginning of a turn that is too long to be kept whole
---@field is_split_turn boolean there is such a turn
---@field tokens_before integer the size of the context
---@field previous_summary? string of the compaction before
---@field file_ops pi.FileOps the files that were touched
---@field settings pi.CompactionSettings

--- The files that tools touched.
---@class pi.FileOps
---@field read string[]
---@field written string[]
---@field edited string[]

--- `[compaction]` of the settings.
---@class pi.CompactionSettings
---@field enabled boolean
---@field reserve_tokens integer
---@field keep_recent_tokens integer

--- The names of a model.
---@class pi.ModelRef
---@field provider string
---@field id string

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

--- The session got a name, or lost it.
---@class pi.SessionInfoChangedEvent
---@field type "session_info_changed"
---@field name? string

--- Asks before the session moves to another entry of its tree.
---@class pi.SessionBeforeTreeEvent
---@field type "session_before_tree"
---@field preparation pi.TreePreparation what would happen
---@field signal pi.Signal ends when the person interrupts

--- What a move in the tree would do.
---@class pi.TreePreparation
---@field target_id string where it goes
---@field old_leaf_id? string where it comes from
---@field common_ancestor_id? string the last entry that both ways share
---@field entries_to_summarize pi.Entry[] what is left behind
---@field user_wants_summary boolean the person asked for a summary of it

--- What a handler of `session_before_tree` may return.
---@class pi.SessionBeforeTreeResult
---@field cancel? boolean stay here
---@field summary? pi.BranchSummaryDraft the summary, if the person wants one
---@field custom_instructions? string what the summary should look at
---@field replace_instructions? boolean they are the whole request for the summary
---@field label? string names the entry

--- A summary of a branch that a hook brings.
---@class pi.BranchSummaryDraft
---@field summary string
---@field details? any kept in the entry

--- The session has moved to another entry of its tree.
---@class pi.SessionTreeEvent
---@field type "session_tree"
---@field new_leaf_id? string
---@field old_leaf_id? string
---@field summary_entry? pi.Entry of what was left behind
---@field from_hook boolean a hook wrote the summary

--- The session ends, on every way out. All hooks together have 2 seconds.
---@class pi.SessionShutdownEvent
---@field type "session_shutdown"
---@field reason string `quit`, `reload`, `new`, `resume` or `branch`
---@field target_session_file? string the session that comes after it

-- Prompts, turns, and what the model sees -----------------------------------------

--- A prompt, before it is written anywhere.
---@class pi.InputEvent
---@field type "input"
---@field text string
---@field attachments pi.Block[]
---@field source string `interactive`, `print`, `json`, `rpc`, `acp` or `hook`
---@field streaming_behavior? string while the agent works: `steer` or `follow_up`

--- What a handler of `input` may return.
---@class pi.InputResult
---@field text? string the prompt instead
---@field attachments? pi.Block[] what goes with it instead; as in `pi.send`
---@field handled? boolean that is all; the model is not asked

--- The prompt is in the session, and the model is about to be asked.
---@class pi.BeforeAgentStartEvent
---@field type "before_agent_start"
---@field prompt string
---@field attachments pi.Block[]
---@field system_prompt string the whole of it
---@field sections table<string, string> its parts, by name

--- What a handler of `before_agent_start` may return.
---@class pi.BeforeAgentStartResult
---@field message? pi.CustomMessage goes along with the prompt
---@field sections? table<string, string|false> parts that are added, replaced or (false) left out, for this prompt
---@field system_prompt? string the whole system prompt, for this prompt; prefer `sections`

--- The agent begins to work on a prompt.
---@class pi.AgentStartEvent
---@field type "agent_start"

--- The agent has worked on a prompt; once for each.
---@class pi.AgentEndEvent
---@field type "agent_end"
---@field messages pi.Message[] the new ones
---@field usage pi.Usage of the run
---@field will_retry boolean it failed, and is tried again

--- Asks before the agent stops. A hook may let it go on.
---@class pi.AgentBeforeSettleEvent
---@field type "agent_before_settle"
---@field outcome string `completed`, `aborted` or `error`
---@field messages pi.Message[] the new ones

--- What a handler of `agent_before_settle` may return.
---@class pi.AgentBeforeSettleResult
---@field entries? pi.EntryDraft[] appended to the session, all or none
---@field continue? boolean ask the model once more; it needs something new to answer

--- The agent is done: no retry, no compaction, no queued message follows.
---@class pi.AgentSettledEvent
---@field type "agent_settled"

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

--- An entry that a handler wants to be written.
---@class pi.EntryDraft
---@field type "custom"|"custom_message"|"context_edit"|"compaction"
---@field custom_type? string of `custom` and `custom_message`
---@field data? any of `custom`
---@field content? string|pi.Block[] of `custom_message`
---@field display? boolean of `custom_message`
---@field details? any of `custom_message` and `compaction`
---@field target_id? string of `context_edit`: the entry
---@field replacement? pi.Replacement of `context_edit`: nothing takes it out of the context
---@field summary? string of `compaction`
---@field first_kept_entry_id? string of `compaction`
---@field tokens_before? integer of `compaction`

--- What the model is about to be shown: before each request, and when a session was loaded or changed.
---@class pi.ContextEvent
---@field type "context"
---@field entries pi.Entry[] the current branch, root first
---@field messages pi.Message[] a copy of yours; change it and return it

--- What a handler of `context` may return.
---@class pi.ContextResult
---@field messages? (pi.Message|pi.PlacedMessage)[] what the model is shown instead; the session stays as it is

--- A message together with the entry that it stands for.
---@class pi.PlacedMessage
---@field message pi.Message
---@field entry_index? integer in `event.entries`, from 1; nil: none

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

--- A message begins.
---@class pi.MessageStartEvent
---@field type "message_start"
---@field message pi.Message

--- A piece of an answer. The stream does not wait for handlers: what comes meanwhile is joined.
---@class pi.MessageUpdateEvent
---@field type "message_update"
---@field message pi.Message as far as it has come
---@field delta pi.Delta what is new

--- A piece of an answer.
---@class pi.Delta
---@field type "text"|"thinking"|"tool_call"
---@field index integer of the block, from 0
---@field text string

--- What a handler of `message_update` may return.
---@class pi.MessageUpdateResult
---@field abort? pi.Abort stop the answer, and ask again

--- Stops an answer.
---@class pi.Abort
---@field reason? string for people
---@field inject? string told to the model as a hidden message, before it is asked again

--- A message is complete. What a handler makes of it is what is stored and sent.
---@class pi.MessageEndEvent
---@field type "message_end"
---@field message pi.Message

--- What a handler of `message_end` may return.
---@class pi.MessageEndResult
---@field message? pi.Message instead; of the same role

--- Another model was chosen.
---@class pi.ModelSelectEvent
---@field type "model_select"
---@field model pi.Model
---@field previous_model? pi.Model
---@field provider string
---@field model_id string
---@field previous_provider? string
---@field previous_model_id? string
---@field thinking_level string
---@field source string `set`, `cycle` or `restore`

--- Another thinking level was chosen.
---@class pi.ThinkingLevelSelectEvent
---@field type "thinking_level_select"
---@field level string
---@field previous_level string

--- The program waits for the person.
---@class pi.UiPromptStartEvent
---@field type "ui_prompt_start"
---@field kind string `select`, `confirm`, `input`, `editor` or `custom`
---@field title? string

--- The person has answered.
---@class pi.UiPromptEndEvent
---@field type "ui_prompt_end"
---@field kind string `select`, `confirm`, `input`, `editor` or `custom`
---@field title? string

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

--- A request failed and is tried again after a while.
---@class pi.AutoRetryStartEvent
---@field type "auto_retry_start"
---@field attempt integer from 1
---@field max_attempts integer
---@field delay_ms integer
---@field error_message string

--- It was tried again.
---@class pi.AutoRetryEndEvent
---@field type "auto_retry_end"
---@field success boolean
---@field attempt integer
---@field final_error? string why it was given up

-- Tools -----------------------------------------------------------------------

--- The model wants a tool to run. An error of a handler blocks the call.
---@class pi.ToolCallEvent
---@field type "tool_call"
---@field tool_name string
---@field tool_call_id string
---@field input table what the tool is called with, as rewritten so far

--- What a handler of `tool_call` may return.
---@class pi.ToolCallResult
---@field block? boolean it does not run
---@field reason? string with `block`: what the model is told
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

--- The person runs a command with `!`. An error of a handler blocks it.
---@class pi.UserBashEvent
---@field type "user_bash"
---@field command string
---@field exclude_from_context boolean the model will not see it (`!!`)
---@field cwd string

--- What a handler of `user_bash` may return.
---@class pi.UserBashResult
---@field result? pi.BashResult counts as what came of it; nothing runs

--- What came of a command of the person.
---@class pi.BashResult
---@field output string
---@field exit_code? integer
---@field cancelled? boolean
---@field truncated? boolean

-- What the program's own tools take and tell -------------------------------------

--- `input` of bash.
---@class pi.BashInput
---@field command string
---@field timeout? integer seconds

--- `input` of read.
---@class pi.ReadInput
---@field path string
---@field offset? integer the first line, from 1
---@field limit? integer lines

--- `input` of write.
---@class pi.WriteInput
---@field path string
---@field content string

--- `input` of edit: one replacement, or several as `edits`.
---@class pi.EditInput
---@field path string
---@field old_text? string
---@field new_text? string
---@field edits? pi.Edit[]

--- One replacement.
---@class pi.Edit
---@field old_text string
---@field new_text string

--- `input` of ls.
---@class pi.LsInput
---@field path? string
---@field limit? integer

--- `input` of find.
---@class pi.FindInput
---@field pattern string a glob
---@field path? string
---@field limit? integer

--- `input` of grep.
---@class pi.GrepInput
---@field pattern string
---@field path? string
---@field glob? string
---@field ignore_case? boolean
---@field literal? boolean
---@field context? integer lines around each hit
---@field limit? integer

--- `details` of bash.
---@class pi.BashDetails
---@field truncation? pi.Truncation
---@field full_output_path? string the file with all of it
---@field exit_code? integer

--- `details` of read, grep, find and ls.
---@class pi.ReadDetails
---@field truncation? pi.Truncation

--- `details` of edit.
---@class pi.EditDetails
---@field diff string
---@field first_changed_line integer

--- `details` of write.
---@class pi.WriteDetails
---@field bytes integer

--- What was left out.
---@class pi.Truncation
---@field truncated boolean
---@field total_lines integer
---@field output_lines integer
