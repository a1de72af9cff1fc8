---@meta _

--- What every handler, command and tool gets beside its event. Its values are read when they are
--- asked for, and cannot be set.
---@class pi.Context
---@field cwd string the working directory
---@field mode "interactive"|"print"|"json"|"rpc"|"acp" how pi runs
---@field has_ui boolean somebody can be asked
---@field session_id string
---@field session_file? string nil when nothing is saved
---@field model? pi.Model nil when there is none
---@field thinking_level pi.ThinkingLevel
---@field work_mode? string the mode that is on, see `pi.mode`; nil for none. `ctx.mode` is another thing: how pi runs
---@field entries pi.Entry[] the current branch, root first; read-only
---@field messages pi.Message[] what the model would be shown now; read-only: each reading gives a list of its own, so keep it in a local. In a tool it ends with the answer whose calls have no results yet
---@field session pi.Session the whole session, read-only
---@field ui pi.UI
---@field signal pi.Signal ends when this handler is stopped
---@field agent? pi.AgentInfo the child in whose session this runs; nil in the user's own
local ctx = {}

--- An agent that another one uses: a child. Its session has the hooks of the session that uses it, each in a
--- VM of its own.
---@class pi.AgentInfo
---@field name string
---@field depth integer 1 for a child of the user's own agent
---@field parent? string the name of the agent that uses it; nil: it is the user's own

--- What the session has used so far, and how full the context is.
---@return pi.SessionUsage
function ctx.usage() end

--- Turns a mode on, see `pi.mode`, or with nil the one that is on off; in every handler, from the next request on. Where the session is in a mode that no hook has, only a user may: in a command or shortcut. In a child it is nil and a message: a child is in the mode of the agent that uses it.
---@param name? string
---@return boolean?
---@return string? message there is no such mode, and which one may have been meant
function ctx.set_mode(name) end

--- The system prompt in force, with what hooks made of it.
---@return string
function ctx.system_prompt() end

--- Finds a model by its exact names, among those that its provider lists. Of a provider that lists nothing, such as a server of your own without `models`, only it knows what it has: there any id is a model. A model that you named on the command line is one, too.
---@param provider string
---@param id string
---@return pi.Model? model
---@return string? message there is no such model, and which one may have been meant
function ctx.find_model(provider, id) end

--- Lists the models whose provider has a key or needs none.
---@return pi.Model[]
function ctx.available_models() end

--- Lists all models that there are, with or without a key.
---@return pi.Model[]
function ctx.models() end

--- Lists the models that the key for the next one goes through: those of `models` in `config.toml` or `--models`, else all that can be asked.
---@return pi.ScopedModel[]
function ctx.scoped_models() end

--- A model of `ctx.scoped_models`.
---@class pi.ScopedModel
---@field model pi.Model the model itself
---@field thinking? pi.ThinkingLevel the level that it is chosen with, where its name says one

--- Lists the sections that the system prompt is made of, in their order; `before_agent_start` can change them by these names. `ctx.system_prompt()` is the whole text, which a hook may have replaced.
---@return pi.PromptPart[]
function ctx.prompt_parts() end

--- A section of the system prompt.
---@class pi.PromptPart
---@field name string what hooks know it by
---@field text string what it says

--- Chooses the model, from the next request on, in every handler. Where that answers an event of such a choice, at most 8 follow on each other.
---@param provider string|pi.Model|pi.ModelRef with an `id`, the exact name; alone, a model, or whatever means one as for `/model`, such as `"sonnet:high"`
---@param id? string
---@return boolean? ok
---@return string? message there is no such model (see `ctx.find_model`), or no key for it
function ctx.set_model(provider, id) end

--- Chooses how much the model thinks, from the next request on, in every handler. What it does not offer is asked of it as far as it goes: `ctx.thinking_level` is what came of it.
---@param level pi.ThinkingLevel
---@return boolean? ok
---@return string? message there is no such level
function ctx.set_thinking_level(level) end

--- The key that is sent for a model. Nothing writes it to a log; neither should you.
---@param model pi.Model|pi.ModelRef|string such as `ctx.model` or `"provider/id"`
---@return string? key
---@return string? message there is none
function ctx.resolve_api_key(model) end

--- Runs a program, without a shell; the same as `pi.exec`.
---@param cmd string
---@param args? string[]
---@param opts? pi.ExecOptions
---@return pi.ExecResult? result
---@return string? message why it could not be started
function ctx.exec(cmd, args, opts) end

--- Saves an entry of your own type in the session. The model does not see it. Raises without a `type`, for a type of the program, and for what JSON cannot hold.
---@param entry table `type` and your fields; put the name of your hook before the type
---@return string? id
---@return string? message why it could not be saved
function ctx.save_entry(entry) end

--- Changes for good what the model sees of one entry of this branch: nil takes it out, a table with `content` replaces what it says. The file keeps what was.
---@param entry_id string a user message, an answer, a tool result or a custom message
---@param replacement? pi.Replacement
---@return string? id of the edit
---@return string? message it is not such an entry
function ctx.edit_context(entry_id, replacement) end

--- What the model sees instead.
---@class pi.Replacement
---@field content string|pi.Block[] what the model sees instead

--- Runs the `context` handlers now and returns what the model would be shown. Raises inside a `context` handler.
---@return pi.Message[]
function ctx.rebuild_context() end

--- The agent does nothing at the moment.
---@return boolean
function ctx.is_idle() end

--- Interrupts the agent, as Ctrl+C does.
function ctx.abort() end

--- Messages wait for the model.
---@return boolean
function ctx.has_pending_messages() end

--- Leaves pi when the current prompt is done.
function ctx.shutdown() end

--- Has a summary put in the place of the conversation, as `/compact` does. It returns at once: while the agent works, that happens before its next
--- request or when it is done, otherwise as soon as nothing else is done. The callbacks tell what came of it; only one such wish waits at a time.
---@param opts? pi.CompactOptions
---@return boolean ok
function ctx.compact(opts) end

--- Options of `ctx.compact`.
---@class pi.CompactOptions
---@field instructions? string what the summary should look at
---@field on_complete? fun(result: pi.Entry) it is done; `result` is the compaction
---@field on_error? fun(message: string) it failed, a hook was against it, or there was nothing to do; without it the user is told

--- Tells whether what a handler does is still wanted.
---@class pi.Signal
local signal = {}

--- It is not wanted any more.
---@return boolean
function signal.cancelled() end

--- Why: `timeout`, `cancelled`, `memory`, or what `cancel` was given. Nil while it is wanted.
---@return string?
function signal.reason() end

--- Calls `fn` when that happens, or at once if it has. What it returns takes that back.
---@param fn fun()
---@return fun() off
function signal.on_cancel(fn) end

--- The session. Everything is read-only.
---@class pi.Session
local session = {}

--- All entries of the file, in its order.
---@return pi.Entry[]
function session.entries() end

--- The entries from the root to an entry; to the current one unless said.
---@param from_id? string
---@return pi.Entry[]? branch
---@return string? message there is no such entry
function session.branch(from_id) end

--- One entry.
---@param id string
---@return pi.Entry? entry
---@return string? message there is no such entry
function session.entry(id) end

--- The id of the last entry of the current branch; nil in an empty session.
---@return string?
function session.leaf_id() end

--- The entries as a tree.
---@return pi.TreeNode[] roots
function session.tree() end

--- An entry and what follows on it.
---@class pi.TreeNode
---@field entry pi.Entry
---@field children pi.TreeNode[]
---@field label? string

--- The name that an entry was given, or nil.
---@param id string
---@return string?
function session.label(id) end

--- The file, or nil when nothing is saved.
---@return string?
function session.file() end

--- The id of the session.
---@return string
function session.id() end

--- The name that the session was given, or nil.
---@return string?
function session.name() end

--- The first line of the file.
---@return pi.SessionHeader
function session.header() end

--- What handlers of `agent_settled` get: `ctx`, and what moves the session. Elsewhere that would wait for itself, or replace the session that an event is about. While a run works each gives nil and a message.
---@class pi.SettledContext: pi.Context
local settled = {}

--- What came of a step from one session to another.
---@class pi.SwitchResult
---@field cancelled boolean a hook did not want it
---@field session_id string of the session that is the current one now
---@field session_file? string nil when nothing is saved

--- Leaves this session for an empty one.
---@param opts? pi.NewSessionOptions
---@return pi.SwitchResult? result
---@return string? message why it failed
function settled.new_session(opts) end

--- Options of `ctx.new_session`.
---@class pi.NewSessionOptions
---@field parent_session? string the file of the session that it comes from
---@field setup? fun(sm: pi.SessionSetup) writes into it before it becomes current

--- A session that is being made.
---@class pi.SessionSetup
local sm = {}

--- Appends a message.
---@param message pi.SetupMessage
---@return string? id of its entry
---@return string? message why it could not be written
function sm.append_message(message) end

--- A message for a session that is being made.
---@class pi.SetupMessage
---@field role "user"|"assistant"
---@field content string|pi.Block[]
---@field timestamp? integer milliseconds since 1970; now unless said

--- Leaves this session for another file.
---@param path string
---@return pi.SwitchResult? result
---@return string? message why it failed
function settled.switch_session(path) end

--- Copies the way to an entry into a session of its own, and goes there. Of a prompt of the user: the way to before it, and its text is in the prompt line again, if a command did it.
---@param entry_id string
---@return pi.BranchResult? result
---@return string? message why it failed
function settled.branch(entry_id) end

--- What came of `ctx.branch`.
---@class pi.BranchResult
---@field cancelled boolean a hook did not want it
---@field session_id string of the session that is the current one now
---@field session_file? string nil when nothing is saved
---@field text? string the prompt before which it branched off

--- Goes on from another entry of the tree of this session. Of a prompt of the user, and of a custom message: from before it, and its text is in the prompt line again, if a command did it.
---@param entry_id string
---@param opts? pi.NavigateOptions
---@return pi.NavigateResult? result
---@return string? message why it failed
function settled.navigate_tree(entry_id, opts) end

--- What came of `ctx.navigate_tree`.
---@class pi.NavigateResult
---@field cancelled boolean a hook did not want it
---@field session_id string of the session that is the current one now
---@field session_file? string nil when nothing is saved
---@field text? string the message before which the conversation goes on
---@field leaf_id? string the entry that it ends with now; nil if it is empty
---@field summary_entry? pi.Entry the summary of what was left behind

--- Options of `ctx.navigate_tree`.
---@class pi.NavigateOptions
---@field summarize? boolean have the model sum up what is left behind, for who goes on from there
---@field custom_instructions? string what the summary should look at
---@field replace_instructions? boolean they are the whole request for the summary
---@field label? string names the entry, or the summary if there is one

--- What commands and shortcuts get: `ctx`, and what would surprise or wait for itself inside an event.
---@class pi.CommandContext: pi.SettledContext
---@field args string[] what stood behind the command, split as a shell does; `"two words"` is one
---@field args_raw string the same as it was typed
local command = {}

--- Has the agent work on a prompt, and returns when that has settled, with what came of it. The command is no part of that
--- work: it has neither the agent nor a lock meanwhile, and may move the session afterwards. Where a run is in progress
--- already the prompt is a follow-up of it, and what is told is how that run ended; prompts of several commands come one
--- after the other. Handlers of `input` get it with the source `hook`.
--- The first prompt is free where the user or a client has typed the command; each further one counts towards
--- `max_continuations`, as does what the command sends or returns after one. At most 16 commands wait at a time, and 4
--- inside of each other.
--- Esc ends the run first, whose outcome is then `aborted`, and at rest the command. With `pi -p` the last answer is printed,
--- and the status is that of the last outcome. Over RPC the command is answered when its first prompt is accepted
--- (`started`, or `queued` where a run is in progress); over ACP at its end, and `session/cancel` ends both.
---@param text string
---@param opts? pi.PromptOptions
---@return pi.PromptResult? result
---@return string? message why nothing is known of it: it was not sent, or the session was left meanwhile
function command.prompt(text, opts) end

--- Options of `ctx.prompt`.
---@class pi.PromptOptions
---@field attachments? pi.Attachment[] as in `pi.send`
---@field expand? boolean a template or a skill that the text names, such as `/review`, is put in its place; never a command

--- What came of `ctx.prompt`.
---@class pi.PromptResult
---@field outcome "completed"|"aborted"|"error"|"limit"|"handled" `limit`: one of the user's limits ended it, such as `max_turns`; `handled`: a handler of `input` took it, and the model was not asked
---@field messages pi.Message[] those that the run has added, the prompt first
---@field error? string why it did not complete

--- Waits until the agent works on nothing. A prompt that was only handed in, as with `pi.send`, begins when the command has ended.
---@return pi.SwitchResult? result
---@return string? message
function command.wait_for_idle() end

--- Loads all hooks anew.
---@return pi.SwitchResult? result
---@return string? message
function command.reload() end
