---@meta pi.compat.omp

--- The API of oh-my-pi, for its hooks: `local pi = require "pi.compat.omp"` as the first line. What it does not have itself is that of the global `pi`.
---@class pi.compat.omp
---@field logger table `debug`, `info`, `warn` and `error`, each into the hook log
---@field ai table `complete(model, request, opts)` asks a model beside the conversation
---@field tui table `Text(text, padding_x?, padding_y?)` is a component of a text
---@field events table `on(name, fn)` and `emit(name, data)`, which the own file hears too
local omp = {}

--- Listens to an event by its name there, such as `session.compacting`.
---@param event string
---@param fn function
---@return fun() off takes the handler off again
function omp.on(event, fn) end

--- Makes the default export of a file: `return require("pi.compat.omp").hook(function(pi) … end)`.
---@param fn function gets this object
---@return function
function omp.hook(fn) end

--- Sends a message of your own. The second argument may be a boolean, which is `trigger_turn`.
---@param message pi.CustomMessage
---@param opts? table|boolean
function omp.send_message(message, opts) end

--- Sends a prompt as if it had been typed.
---@param content string|pi.Block[]
---@param opts? table
function omp.send_user_message(content, opts) end

--- Saves state that the model does not see.
---@param custom_type string
---@param data? any
---@return string id
function omp.append_entry(custom_type, data) end

--- Says how messages of a type look; a component may be returned.
---@param custom_type string
---@param fn function
function omp.register_message_renderer(custom_type, fn) end

--- Registers a slash command. What the handler returns is dropped.
---@param name string
---@param opts { description?: string, handler: fun(args: string, ctx: pi.CommandContext), get_argument_completions?: fun(prefix: string): any[] }
function omp.register_command(name, opts) end

--- Gives the model a tool.
---@param opts table with `execute(id, params, signal, on_update, ctx)`
function omp.register_tool(opts) end

--- Takes a key.
---@param key string
---@param opts { description?: string, handler: fun(ctx: pi.CommandContext) }
function omp.register_shortcut(key, opts) end

--- Adds a flag to the command line.
---@param name string
---@param opts table
function omp.register_flag(name, opts) end

--- The value of a flag.
---@param name string
---@return string|boolean|number?
function omp.get_flag(name) end

--- Runs a program. One that cannot be started is one that failed.
---@param command string
---@param args? string[]
---@param opts? table
---@return pi.ExecResult
function omp.exec(command, args, opts) end

--- The same as `exec`.
---@param command string
---@param args? string[]
---@param opts? table
---@return pi.ExecResult
function omp.exec_command(command, args, opts) end

--- Registers a slash command of the older form: what the handler returns is asked or shown, as for `pi.command` of this program.
---@param name string
---@param opts { description?: string, handler: fun(ctx: pi.CommandContext): any, complete?: fun(prefix: string): string[] }
function omp.command(name, opts) end

--- Lists the names of the active tools.
---@return string[]
function omp.get_active_tools() end

--- Lists all tools.
---@return pi.ToolInfo[]
function omp.get_all_tools() end

--- Lists the commands.
---@return pi.CommandInfo[]
function omp.get_commands() end

--- The name of the session.
---@return string?
function omp.get_session_name() end

--- How much the model thinks. A handler or command must have run before.
---@return pi.ThinkingLevel
function omp.get_thinking_level() end

--- Adds models, or changes how a provider is reached.
---@param name string
---@param opts table
function omp.register_provider(name, opts) end

--- Types at the prompt: commands run, and while the agent works it waits as a follow-up.
---@param text string
---@param attachments? pi.Attachment[]
function omp.send(text, attachments) end

--- Says which tools are active.
---@param names string[]
function omp.set_active_tools(names) end

--- Labels an entry; nil removes the label.
---@param id string
---@param label? string
function omp.set_label(id, label) end

--- Chooses the model, from the next request on.
---@param model pi.Model|pi.ModelRef|string a model, or the name of a provider
---@param id? string
---@return boolean? ok nil if there is no such model
function omp.set_model(model, id) end

--- Names the session.
---@param name string
function omp.set_session_name(name) end

--- Chooses how much the model thinks, from the next request on.
---@param level pi.ThinkingLevel
---@return boolean? ok
function omp.set_thinking_level(level) end

--- Takes a provider away.
---@param name string
function omp.unregister_provider(name) end

return omp
