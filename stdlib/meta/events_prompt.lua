---@meta _

-- The events of prompts, turns, requests and answers.
-- A handler of an asking event may return what is in its result class. A key that
-- is not in there is an error; nil, and an empty table, are no opinion.

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
---@field will_retry boolean always false: a request that failed is made again within its turn

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

--- A message begins. One without a `message_end` before the next begins was cut off, and counts as nothing.
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

--- Another model was chosen: by the person or a hook (`set`), with Ctrl+P (`cycle`), or with another session (`restore`).
---@class pi.ModelSelectEvent
---@field type "model_select"
---@field model pi.Model
---@field previous_model? pi.Model
---@field provider string
---@field model_id string
---@field previous_provider? string
---@field previous_model_id? string
---@field thinking_level string what the model is asked for, which may be less than what was chosen
---@field source string `set`, `cycle` or `restore`

--- The model is asked for another thinking level than before: one was chosen, or the model is another.
---@class pi.ThinkingLevelSelectEvent
---@field type "thinking_level_select"
---@field level string
---@field previous_level string

--- Another mode is on than before, see `pi.mode`; also after the start and after a change of the session, if the session was
--- left in one.
---@class pi.ModeSelectEvent
---@field type "mode_select"
---@field mode? string nil: none is on
---@field previous_mode? string
---@field source string where the wish came from: `flag`, `key`, `command`, `hook`, `client` or `restore`

--- The program waits for the person.
---@class pi.UiPromptStartEvent
---@field type "ui_prompt_start"
---@field kind string `select`, `confirm`, `input`, `editor`, `custom` or `run`
---@field title? string

--- The person has answered.
---@class pi.UiPromptEndEvent
---@field type "ui_prompt_end"
---@field kind string `select`, `confirm`, `input`, `editor`, `custom` or `run`
---@field title? string

--- Another hook failed; its own errors a hook does not hear of. Nor is anybody told of an error in a handler of `hook_error`, and of
--- what it sets off: that is only shown.
---@class pi.HookErrorEvent
---@field type "hook_error"
---@field hook string its name
---@field path string
---@field event string what it was called for: an event, `/NAME` for a command, `timer.every`, `load` and the like
---@field error string with file and line
---@field traceback? string
---@field count integer how often this has come from the same handler with the same words; a person is shown the first

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

--- A request failed for a reason that may pass, and is made again after a while. What came of it so far counts as nothing: the answer
--- begins anew, with another `message_start`.
---@class pi.AutoRetryStartEvent
---@field type "auto_retry_start"
---@field attempt integer that comes then, from 1; the first request is none
---@field max_attempts integer
---@field delay_ms integer until then
---@field error_message string why the request failed

--- It is decided: an answer stands, or the request is given up.
---@class pi.AutoRetryEndEvent
---@field type "auto_retry_end"
---@field success boolean
---@field attempt integer the last
---@field final_error? string why it was given up
