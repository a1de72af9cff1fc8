---@meta _

-- The events of sessions.
-- A handler of an asking event may return what is in its result class. A key that
-- is not in there is an error; nil, and an empty table, are no opinion.

--- Asks whether hooks of a project may run. Only your own hooks and those of the command line are asked. In a terminal they can ask the
--- person: `confirm`, `select` and `input` work line by line, for there is no prompt yet.
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
--- `pi sessions` asks no hooks: `--session-dir` tells it too.
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
---@field entry_id string where the new session would end; of a prompt of the person: before which it would
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
---@field first_kept_entry_id? string where what the model still sees begins; nil: nothing is kept
---@field first_kept_entry_index integer where that entry stands in `branch_entries`, from 1; behind its end if nothing is kept
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
---@field target_id string the entry that was chosen; of a prompt of the person, and of a custom message, the session goes to before it
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
---@field label? string names the entry, or the summary if there is one

--- A summary of a branch that a hook brings.
---@class pi.BranchSummaryDraft
---@field summary string
---@field details? any kept in the entry

--- The session has moved to another entry of its tree.
---@class pi.SessionTreeEvent
---@field type "session_tree"
---@field new_leaf_id? string the entry that the conversation ends with now; nil if it is empty
---@field old_leaf_id? string
---@field summary_entry? pi.Entry of what was left behind
---@field from_hook boolean a hook wrote the summary

--- The session ends, on every way out. All hooks together have 2 seconds; what is cut off then is said. Nothing is sent any more.
---@class pi.SessionShutdownEvent
---@field type "session_shutdown"
---@field reason string `quit`, `reload`, `new`, `resume` or `branch`
---@field target_session_file? string the session that comes after it
