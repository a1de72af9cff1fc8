---@meta pi.llm

--- Asking a model beside the conversation.
---@class pi.llm
local llm = {}

--- What a model is asked.
---@class pi.Completion
---@field system? string the system prompt
---@field messages pi.Message[] such as `ctx.messages`, or `{ role = "user", content = "…" }`
---@field tools? pi.ToolSpec[] what it may call; you run the calls

--- Options of `llm.complete`.
---@class pi.CompletionOptions
---@field api_key? string instead of the one of the model
---@field max_tokens? integer of the answer
---@field thinking? pi.ThinkingLevel off unless said, here or behind the model's name (`"sonnet:high"`)
---@field signal? pi.Signal ends it, such as `ctx.signal`

--- Asks a model and waits for its answer. What it used is kept in the session and counts. A request that fails for a
--- passing reason is made again, as `[retry]` in `config.toml` says.
---@param model pi.Model|pi.ModelRef|string|nil such as `ctx.model` or `"provider/id"`; nil is the current one
---@param request pi.Completion
---@param opts? pi.CompletionOptions
---@return pi.Message? answer
---@return string? message there is no such model or no key, or it failed
function llm.complete(model, request, opts) end

return llm
