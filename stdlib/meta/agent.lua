---@meta pi.agent

--- Agents that work for a hook: each has a session of its own, with hooks of its own, in this process. An agent never can more than
--- the one that uses it: the same settings, approvals and mode count for it, its tools are at most those that are active here, and
--- gates are asked about its calls, with its name. What it uses counts in this session. Guide: `pi docs agents`.
---@class pi.agent
local agent = {}

--- What an agent is asked. Only the prompt is needed.
---@class pi.AgentOptions
---@field prompt string what it is to do; it knows nothing else of this session
---@field agent? string the name of a definition, from `agents/*.md`
---@field name? string what users and gates see, of at most 32 characters: that of the definition unless said, or `agent`
---@field system_prompt? string takes the place of that of the definition, or of what the program says of its role
---@field model? string|pi.Model|pi.ModelRef as `--model` has it, such as `"haiku:low"`; that of the definition unless said, or of this session
---@field thinking? pi.ThinkingLevel likewise
---@field tools? string[] of those that are active here; those of the definition unless said, or all. An empty list is none
---@field cwd? string where it works; a relative path begins at the working directory
---@field schema? table a JSON Schema of an object, such as one of `pi.schema`: the answer is `value` of the result, by a tool `final_answer` that the agent has, and checked; three tries
---@field context? "none"|"parent" `parent`: it goes on from the last request of this session, whose cache it hits; `agent`, `tools`, `system_prompt`, `model` and `thinking` cannot stand beside that
---@field session? "none"|"keep" `keep`: its session has a file, which `pi sessions list --children` lists; `none` unless said
---@field max_turns? integer how many answers the model gives at most
---@field max_cost? number dollars, at most; never more than this session has left
---@field timeout? number ms that it may take, the time in which it waits for its turn included
---@field signal? pi.Signal ends it, such as `ctx.signal`
---@field on_event? fun(event: table): boolean? gets its events one after the other, as a handler of `pi.on` would, by `event.type`; the agent waits until it returns, and it decides nothing. True ends the agent. An error ends it and is one of `agent.run`; beside `agent.start` it is told as any of a callback, and the agent goes on

--- What came of an agent.
---@class pi.AgentResult
---@field text string its last words; `""` when there are none
---@field value? table what it answered by the schema
---@field messages pi.Message[] of its session
---@field usage pi.Usage of it and of the agents that it used
---@field stop_reason "completed"|"aborted"|"error"|"limit"|"timeout" `limit`: of `max_turns` or `max_cost`, its own or those of this session
---@field error? string why it did not complete
---@field session_file? string where its session is kept

--- Has an agent work, and waits for what comes of it. It ends with the call that waits: Esc ends both. Several work beside each
--- other with `pi.all`, as many at a time as `max` of `[agents]` in `config.toml` says, over all that belong to this session; the others wait for their turn.
---@param opts pi.AgentOptions
---@return pi.AgentResult? result also of one that failed or was ended, with its `stop_reason`
---@return string? message why it did not start: there is no such agent, model or tool, it would be too deep, or no money is left
function agent.run(opts) end

--- Has an agent work beside what goes on. It ends with `abort`, with this version of the hook, and with the session. Esc ends it with
--- the call of a tool or the handler that has started it, while that works; not with a command.
---@param opts pi.AgentOptions
---@return pi.Agent? agent
---@return string? message as of `agent.run`
function agent.start(opts) end

--- An agent that works, or has worked.
---@class pi.Agent
---@field name string with a number where another one of that name works
local h = {}

--- Waits until it has ended.
---@param opts? pi.PromiseOptions
---@return pi.AgentResult? result
---@return string? message `timeout` or `cancelled`: it works on
function h.wait(opts) end

--- Gives it a message, before its next request.
---@param text string
---@return boolean? ok
---@return string? message that it has ended
function h.steer(text) end

--- Ends it. `wait` then returns what there is, with the `stop_reason` `aborted`.
function h.abort() end

return agent
