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
---@field timeout? number ms, after which it is given up with the message `timeout`

--- Asks a model and waits for its answer. What it used is kept in the session and counts. A request that fails for a
--- passing reason is made again, as `[retry]` in `config.toml` says.
---@param model pi.Model|pi.ModelRef|string|nil such as `ctx.model` or `"provider/id"`; nil is the current one
---@param request pi.Completion
---@param opts? pi.CompletionOptions
---@return pi.Message? answer
---@return string? message there is no such model or no key, or it failed
function llm.complete(model, request, opts) end

--- Asks a model as `llm.complete` does, and hands the answer on while it comes. A request is not made again once a piece of
--- its answer was handed on. It returns when the answer has ended.
---@param model pi.Model|pi.ModelRef|string|nil such as `ctx.model` or `"provider/id"`; nil is the current one
---@param request pi.Completion
---@param opts pi.StreamOptions
---@return pi.Message? answer when `on_delta` ended it, what had come, with the `stop_reason` `aborted`
---@return string? message there is no such model or no key, or it failed
function llm.stream(model, request, opts) end

--- Options of `llm.stream`.
---@class pi.StreamOptions: pi.CompletionOptions
---@field on_delta fun(delta: pi.Delta): boolean? gets each piece as it comes, and nothing more is read before it has returned; true ends the answer. An error ends it and is one of `llm.stream`

return llm
