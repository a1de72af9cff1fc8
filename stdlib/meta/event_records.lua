---@meta _

-- What stands in events, and in what their handlers return.

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

--- A message together with the entry that it stands for.
---@class pi.PlacedMessage
---@field message pi.Message
---@field entry_index? integer in `event.entries`, from 1; nil: none

--- A piece of an answer.
---@class pi.Delta
---@field type "text"|"thinking"|"tool_call"
---@field index integer of the block, from 0
---@field text string

--- Stops an answer.
---@class pi.Abort
---@field reason? string for people
---@field inject? string told to the model as a hidden message, before it is asked again

--- One file that would run, or that names what does.
---@class pi.TrustFile
---@field path string
---@field sha256 string of its bytes, in hexadecimal
---@field size integer bytes
---@field kind "hook"|"servers"|"program"|"packages"|"agent"|"entries" a hook or a module of one, a file that names MCP servers, one that a server is made of, `.pi/packages.toml`, one that defines an agent, or the project's config.toml, of which what it says of hooks is hashed
---@field servers? string[] of a file that names servers: their command lines or addresses, and the variables that they get and read
---@field packages? string[] of the file that names packages: name, source, commit and sum of each

--- What can be chosen in a dialog, in `ui_prompt`.
---@class pi.PromptChoice
---@field label string
---@field description? string

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

--- What a move in the tree would do.
---@class pi.TreePreparation
---@field target_id string the entry that was chosen; of a prompt of the user, and of a custom message, the session goes to before it
---@field old_leaf_id? string where it comes from
---@field common_ancestor_id? string the last entry that both ways share
---@field entries_to_summarize pi.Entry[] what is left behind
---@field user_wants_summary boolean the user asked for a summary of it

--- A summary of a branch that a hook brings.
---@class pi.BranchSummaryDraft
---@field summary string
---@field details? any kept in the entry

--- What a tool says of what it does. One that says nothing may do anything.
---@class pi.Annotations
---@field read_only boolean it changes nothing
---@field destructive boolean what it changes may be lost
---@field open_world boolean it may reach beyond this machine
---@field kind? "read"|"edit"|"delete"|"move"|"search"|"execute"|"fetch"|"think"
---@field claimed boolean a server says so of its own tool, and nobody has checked it

--- What an MCP server says of one of its tools.
---@class pi.McpDefinition
---@field tool_name string as gates see it: `mcp__SERVER__TOOL`
---@field description string
---@field parameters table a JSON Schema
---@field annotations pi.Annotations what the server claims that it does
---@field definition string a hash of all that, that of `event.mcp.definition`

--- A tool of an MCP server, and how it came to be called: by the tool `mcp`, by its own name,
--- by a hook, or by a command in a shell. All ways have one `tool_name`, `mcp__SERVER__TOOL`.
---@class pi.McpCall
---@field server string
---@field tool string its name at the server
---@field via "mcp"|"direct"|"hook"|"shell"
---@field definition string a hash of what the server says of the tool: it is another when that changes

--- What came of a command of the user.
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
