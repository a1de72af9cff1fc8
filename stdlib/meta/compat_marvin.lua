---@meta pi.compat.marvin

--- The API of marvin, for its hooks: `local marvin = require "pi.compat.marvin"` as the first line. What it does not have itself is that of the global `pi`.
---@class pi.compat.marvin
local marvin = {}

--- Listens to an event by its name there, such as `tool.execute.before`.
---@param event string
---@param fn function
---@return fun() off takes the handler off again
function marvin.on(event, fn) end

--- Makes the default export of a file: `return require("pi.compat.marvin").hook(function(marvin) … end)`.
---@param fn function gets this object
---@return function
function marvin.hook(fn) end

--- Types at the prompt: commands run, and while the agent works it waits as a follow-up.
---@param text string
---@param attachments? table[] those of marvin, or `pi.Attachment`
function marvin.send(text, attachments) end

--- Sends a prompt as if it had been typed.
---@param text string|pi.Block[]
---@param opts? { deliver_as?: string }
function marvin.send_user_message(text, opts) end

--- Sends a prompt that comes after the running tools.
---@param text string
function marvin.steer(text) end

--- Sends a prompt that waits for the end of the work.
---@param text string
function marvin.follow_up(text) end

--- The agent does nothing at the moment.
---@return boolean
function marvin.is_idle() end

--- Sends a message of your own. The second argument may be a boolean, which is `trigger_turn`.
---@param message pi.CustomMessage
---@param opts? table|boolean
function marvin.send_message(message, opts) end

--- Saves state that the model does not see.
---@param custom_type string
---@param data? any
---@return string id
function marvin.append_entry(custom_type, data) end

--- Says how messages of a type look; a component may be returned.
---@param custom_type string
---@param fn function
function marvin.register_message_renderer(custom_type, fn) end

--- Registers a slash command. What the handler returns is dropped.
---@param name string
---@param opts { description?: string, handler: fun(args: string, ctx: pi.CommandContext) }
function marvin.register_command(name, opts) end

--- Gives the model a tool: with `schema` and `execute(args, ctx)`, or with `parameters` and `execute(id, args, signal, on_update, ctx)`.
---@param opts table
function marvin.register_tool(opts) end

--- Takes a key.
---@param key string
---@param opts { description?: string, handler: fun(ctx: pi.CommandContext) }
function marvin.register_shortcut(key, opts) end

return marvin
