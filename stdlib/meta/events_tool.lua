---@meta _

-- The events of tools.
-- A handler of an asking event may return what is in its result class. A key that
-- is not in there is an error; nil, and an empty table, are no opinion.

--- The model wants a tool to run. An error of a handler blocks the call.
---@class pi.ToolCallEvent
---@field type "tool_call"
---@field tool_name string
---@field tool_call_id string
---@field input table what the tool is called with, as rewritten so far
---@field annotations pi.Annotations what the tool says of what it does
---@field mcp? pi.McpCall the server that the tool is of; nil: it is of none

--- What a tool says of what it does. One that says nothing may do anything.
---@class pi.Annotations
---@field read_only boolean it changes nothing
---@field destructive boolean what it changes may be lost
---@field open_world boolean it may reach beyond this machine
---@field kind? "read"|"edit"|"delete"|"move"|"search"|"execute"|"fetch"|"think"
---@field claimed boolean a server says so of its own tool, and nobody has checked it

--- A tool of an MCP server, and how it came to be called: by the tool `mcp`, by its own name,
--- by a hook, or by a command in a shell. All ways have one `tool_name`, `mcp__SERVER__TOOL`.
---@class pi.McpCall
---@field server string
---@field tool string its name at the server
---@field via "mcp"|"direct"|"hook"|"shell"
---@field definition string a hash of what the server says of the tool: it is another when that changes

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

--- The person runs a command with `!`. An error of a handler blocks it. After a rewrite the handlers before it are asked again.
---@class pi.UserBashEvent
---@field type "user_bash"
---@field command string
---@field exclude_from_context boolean the model will not see it (`!!`)
---@field cwd string

--- What a handler of `user_bash` may return.
---@class pi.UserBashResult
---@field command? string runs in its place
---@field result? pi.BashResult counts as what came of it; nothing runs

--- What came of a command of the person.
---@class pi.BashResult
---@field output string
---@field exit_code? integer
---@field cancelled? boolean
---@field truncated? boolean

--- A shell is about to run a command, of the model or the person, that passed the gates. An error of a handler blocks it.
---@class pi.ShellEvent
---@field type "shell"
---@field command string
---@field cwd string
---@field source string `tool` or `user`

--- What a handler of `shell` may return.
---@class pi.ShellResult
---@field wrap? string[] a program and its arguments: it gets the command as one more, verbatim, in the place of `bash -c`

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
