---@meta pi.compat.pi_v2

--- The API of pi, the TypeScript one, for its hooks: `local pi = require "pi.compat.pi_v2"` as the first line. What it does not have itself is that of the global `pi`.
---@class pi.compat.pi_v2
---@field ai table `complete(model, request, opts)` asks a model beside the conversation; it gives the answer, or raises
---@field tui table `Text(text, padding_x?, padding_y?)` is a component of a text
---@field events table `on(name, fn)` and `emit(name, data)`, which the own file hears too
local v2 = {}

--- Listens to an event by its name there.
---@param event string
---@param fn function
---@return fun() off takes the handler off again
function v2.on(event, fn) end

--- Makes the default export of a file: `return require("pi.compat.pi_v2").hook(function(pi) … end)`.
---@param fn function gets this object
---@return function
function v2.hook(fn) end

--- Registers a slash command of the older form: what the handler returns is asked or shown, as for `pi.command` of this program.
---@param name string
---@param opts { description?: string, handler: fun(ctx: pi.CommandContext): any, complete?: fun(prefix: string): string[] }
function v2.command(name, opts) end

--- Registers a slash command. What the handler returns is dropped.
---@param name string
---@param opts { description?: string, handler: fun(args: string, ctx: pi.CommandContext), get_argument_completions?: fun(prefix: string): any[] }
function v2.register_command(name, opts) end

--- Sends a message of your own. The second argument may be a boolean, which is `trigger_turn`.
---@param message pi.CustomMessage
---@param opts? table|boolean
function v2.send_message(message, opts) end

--- Sends a prompt as if it had been typed.
---@param content string|pi.Block[]
---@param opts? { deliver_as?: string }
function v2.send_user_message(content, opts) end

--- Types at the prompt: commands run, and while the agent works it waits as a follow-up.
---@param text string
---@param attachments? pi.Attachment[]
function v2.send(text, attachments) end

--- Saves state that the model does not see: an entry of the type `custom`.
---@param custom_type string
---@param data? any
---@return string id
function v2.append_entry(custom_type, data) end

--- Says how messages of a type look: lines, a text, or a component; nil leaves that to the next renderer.
---@param custom_type string
---@param fn function
function v2.register_message_renderer(custom_type, fn) end

--- Runs a program. One that cannot be started is one that failed.
---@param command string
---@param args? string[]
---@param opts? table
---@return pi.ExecResult
function v2.exec(command, args, opts) end

--- Gives the model a tool.
---@param opts table with `execute(id, params, signal, on_update, ctx)`
function v2.register_tool(opts) end

--- Whether an event is a result of the tool `bash`.
---@param event table of `tool_result`
---@return boolean
function v2.is_bash_tool_result(event) end

--- Whether an event is a result of the tool `read`.
---@param event table of `tool_result`
---@return boolean
function v2.is_read_tool_result(event) end

--- Whether an event is a result of the tool `edit`.
---@param event table of `tool_result`
---@return boolean
function v2.is_edit_tool_result(event) end

--- Whether an event is a result of the tool `write`.
---@param event table of `tool_result`
---@return boolean
function v2.is_write_tool_result(event) end

--- Whether an event is a result of the tool `grep`.
---@param event table of `tool_result`
---@return boolean
function v2.is_grep_tool_result(event) end

--- Whether an event is a result of the tool `find`.
---@param event table of `tool_result`
---@return boolean
function v2.is_find_tool_result(event) end

--- Whether an event is a result of the tool `ls`.
---@param event table of `tool_result`
---@return boolean
function v2.is_ls_tool_result(event) end

--- Takes a key.
---@param key string
---@param opts { description?: string, handler: fun(ctx: pi.CommandContext) }
function v2.register_shortcut(key, opts) end

--- Adds a flag to the command line; dashes before its name are dropped.
---@param name string
---@param opts table
function v2.register_flag(name, opts) end

--- The value of a flag.
---@param name string
---@return string|boolean|number?
function v2.get_flag(name) end

--- Lists the commands.
---@return pi.CommandInfo[]
function v2.get_commands() end

--- Lists the names of the active tools.
---@return string[]
function v2.get_active_tools() end

--- Lists all tools.
---@return pi.ToolInfo[]
function v2.get_all_tools() end

--- Says which tools are active.
---@param names string[]
function v2.set_active_tools(names) end

--- Names the session.
---@param name string
function v2.set_session_name(name) end

--- The name of the session.
---@return string?
function v2.get_session_name() end

--- Labels an entry; nil removes the label.
---@param id string
---@param label? string
function v2.set_label(id, label) end

--- Adds models, or changes how a provider is reached.
---@param name string
---@param opts table
function v2.register_provider(name, opts) end

--- Takes a provider away.
---@param name string
function v2.unregister_provider(name) end

--- Chooses the model, from the next request on.
---@param model pi.Model|pi.ModelRef|string a model, or the name of a provider
---@param id? string
---@return boolean? ok nil if there is no such model
function v2.set_model(model, id) end

--- Chooses how much the model thinks, from the next request on.
---@param level pi.ThinkingLevel
---@return boolean? ok
function v2.set_thinking_level(level) end

--- How much the model thinks. A handler or command must have run before.
---@return pi.ThinkingLevel
function v2.get_thinking_level() end

return v2
