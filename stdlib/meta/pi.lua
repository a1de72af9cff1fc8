---@meta _

-- The global of every hook. While a hook's file is being run, only registration
-- (on, command, tool, provider, shortcut, flag, renderer, completion, resources,
-- declare_settings), version, api, hook, settings, state, log and the modules that only compute work; the
-- others raise, and `session_start` is the place for them.

--- What a hook has of the program.
---@class pi
---@field version string of the program
---@field api integer of this interface; a hook pins it with `-- pi-api: 1` in its first lines
---@field hook pi.Hook this hook
---@field paths pi.Paths where things are
---@field settings pi.Settings what `[hook.NAME]` in config.toml says, also while the hook loads; read-only, and a change of what it holds changes nothing. Undeclared it may have any key, and one that is not there is nil
---@field host pi.Host what pi runs on
---@field state table yours; it survives reloads of this hook, as long as pi runs. It holds what JSON can hold, and is not written to disk
pi = {}

--- Where things are. All of it is absolute.
---@class pi.Paths
---@field agent string the agent directory
---@field sessions? string the folder of the sessions; nil where none are kept
---@field program string the file that runs
---@field project string where the program works

--- What pi runs on. It is known while the file loads, too.
---@class pi.Host
---@field os string `linux`, `darwin`, `windows`, …
---@field arch string `amd64`, `arm64`, …
---@field pid integer of the program
---@field name string of the machine; empty where it is not known
---@field home string your home directory; empty where it is not known
---@field temp string the directory for temporary files; `fs.temp` makes some that go with the hook

--- The settings of a hook: `pairs` goes through them.
---@class pi.Settings
---@field [string] any

--- The hook that asks.
---@class pi.Hook
---@field name string its file name without `.lua`, or the name of its directory
---@field path string
---@field scope "global"|"package"|"project"|"configured"|"command line" where it came from
---@field agent? pi.AgentInfo the child in whose session it runs, also while it loads; nil in the user's own

--- Answers a dialog of another hook, which `ui_prompt` told of, in the place of the user: true or false to
--- `confirm`, a text to `input` and `editor`, the label of a choice or its position to `select`, a list of
--- these where several may be taken. The dialog closes, and a row says which hook answered what. Only a hook
--- of the user's own may, with `answers = true` in its `[hook.NAME]` of the user's config.toml. Not a hook of
--- a project, and never a question of the program itself: whether a hook is trusted, what is pending, how
--- often a hook may go on.
---@param id string of the dialog
---@param value boolean|string|integer|(string|integer)[]
---@return true? ok nil: the hook may not, the dialog was answered or left, or cannot take the value
---@return string? err
function pi.answer(id, value) end

--- Says which settings the hook has: keys of `[hook.NAME]` in config.toml, with types, defaults and
--- descriptions. They stand in `/settings`. What does not fit, and a key that is none of them, keeps the
--- hook from loading, with file and line of config.toml. Called once, at the level of the file.
--- A `schema.string` with `secret = true`, as a field or in a list or a map, is written as `env:NAME`,
--- `file:PATH` or `!command`, whose secret the hook gets, and is shown nowhere. In a project's config.toml
--- such a value is an error.
---@param schema table of an object, made with `schema.object`
---@return pi.Settings settings as `pi.settings` is from now on: with defaults and secrets
function pi.declare_settings(schema) end

--- Registers a command that is typed as `/name`. The program keeps its names, and of hooks the first: a command with a name that is taken is `/name:2`, then `/name:3`, which a warning says. Commands run while the agent works, too.
---@param name string one word, without `/`, `:` and `.`
---@param opts pi.CommandOptions
function pi.command(name, opts) end

--- Options of `pi.command`.
---@class pi.CommandOptions
---@field description? string one line for `/help` and completion
---@field complete? fun(prefix: string, ctx: pi.Context): string[] what could stand where the user types: for all that is typed, or for its last word. Only what keeps every typed character is offered
---@field handler fun(ctx: pi.CommandContext): string|pi.CommandResult? what it does; a string is sent to the model as a prompt, as it is: skills, templates and commands in it stay text

--- Asks the user, in the program's words, whether this hook may have the model asked up to `up_to` times of itself: with
--- `continue`, and with what its handlers and timers send. It needs no question where the user's settings allow as much.
--- What is allowed holds until the user interrupts, types a prompt or goes to another session; a command, or an answer in
--- a dialog of a hook, gives it anew. Only in commands and shortcuts, and only where the user gave the command: nobody is
--- asked with `-p`, in a pi that another pi has started, or where a hook sent the command. A client is asked three times for each prompt at most.
---@param opts pi.ContinuationsOptions
---@return true? allowed
---@return string? err why not: then `max_continuations` holds as ever
function pi.continuations(opts) end

--- Options of `pi.continuations`.
---@class pi.ContinuationsOptions
---@field up_to integer requests, 1 to 1000

--- What a command may return.
---@class pi.CommandResult
---@field prompt? string sent to the model as a user message
---@field attachments? pi.Attachment[] go with the prompt
---@field status? string shown to the user

--- Gives the model a tool, at once. One with the name of a built-in tool replaces it; among hooks the last in the chain wins.
---@param opts pi.ToolOptions
function pi.tool(opts) end

--- Options of `pi.tool`.
---@class pi.ToolOptions
---@field name string what the model calls it
---@field label? string what people see
---@field description string what the model is told of it
---@field parameters? table JSON Schema of an object, as a table or made with `pi.schema`; none: no arguments
---@field prompt_snippet? string one line for the system prompt
---@field prompt_guidelines? string[] advice for the system prompt, while the tool is active
---@field active? boolean false: the model does not get it until a hook names it in `pi.set_active_tools`
---@field annotations? pi.AnnotationOptions what it says of what it does: gates, modes and editors go by that
---@field execution? "parallel"|"sequential" sequential: never beside other calls of the same answer
---@field prepare_arguments? fun(raw: table): table changes the arguments before they are checked against `parameters`
---@field execute fun(params: table, ctx: pi.Context, call: pi.ToolCallHandle): (string|pi.ToolResult?, string?) does the work; raise, or return nil and a message, to signal failure
---@field render_call? fun(params: table, opts: pi.CallRenderOptions, theme: pi.Theme): string|string[] how the call is shown; again as it goes on
---@field render_result? fun(result: pi.ToolResult, opts: pi.CallRenderOptions, theme: pi.Theme): string|string[] how what it gave back is shown, and with `opts.partial` what it reported last with `call.update`

--- What a tool gives back.
---@class pi.ToolResult
---@field content? string|pi.Block[] what the model reads
---@field details? any for people and hooks, never sent
---@field is_error? boolean the model is told that it failed
---@field usage? pi.Usage what it used, when it asked a model
---@field terminate? boolean end the run, if every call of the answer says so

--- One running call of a tool.
---@class pi.ToolCallHandle
---@field id string of the call
---@field signal pi.Signal ends when the user interrupts
local call = {}

--- Shows how far the tool has come: all of it so far, in place of what the call before showed. Of calls that come fast
--- the newest counts. The model does not see it.
---@param result string|pi.ToolResult
function call.update(result) end

--- Calls the tool in whose place this one stands, the program's or that of a hook before. It runs as part of this call: with
--- the arguments that the gates saw at once, with others after they have been asked again. nil where there is no such tool.
---@param params table
---@return pi.ToolResult? result
---@return string? message why it did not run: a gate is against it, or it does not take these arguments
function call.original(params) end

--- What a renderer has to go by. It has a second to draw.
---@class pi.RenderOptions
---@field expanded? boolean the user wants to see all of it
---@field width integer columns of the screen

--- What a renderer of a call has to go by. A call is drawn when it begins, while it runs after each
--- `call.update` and each `redraw`, and when it is over; the last drawing alone enters the transcript. All
--- running calls together are drawn 10 times a second at most, and only where there is a terminal to draw in.
---@class pi.CallRenderOptions: pi.RenderOptions
---@field partial? boolean the call runs: what is drawn stands there until the next drawing
---@field call pi.DrawnCall the call; one table for all its drawings by this hook, until the hook is loaded anew
---@field redraw fun() has the call drawn again soon, for a clock or a sign that turns; it does nothing once the call is over

--- A call of a tool that is drawn.
---@class pi.DrawnCall
---@field id string
---@field name string the tool
---@field args table as the tool gets them
---@field state table yours: what one drawing puts there, the next has
---@field started integer when the call came, in ms since 1970
---@field duration_ms integer how long the tool has run, without waits for the user
---@field is_error boolean it is over, and failed

--- Lists all tools, those of the program and of hooks.
---@return pi.ToolInfo[]
function pi.tools() end

--- What a tool says of what it does. One that says nothing may do anything.
---@class pi.AnnotationOptions
---@field read_only? boolean it changes nothing
---@field destructive? boolean what it changes may be lost
---@field open_world? boolean it may reach beyond this machine
---@field kind? "read"|"edit"|"delete"|"move"|"search"|"execute"|"fetch"|"think" how editors show it

--- A tool as hooks are told of it.
---@class pi.ToolInfo
---@field name string
---@field label? string
---@field description string
---@field parameters table JSON Schema
---@field source string `program`, or the hook that brings it
---@field annotations pi.Annotations what the tool says of what it does
---@field active boolean the model has it now

--- Registers a mode: a way to work that a user turns on with Shift+Tab, `/mode`, `--mode-name` or in an editor. While it is on, its tools are the active ones, its section stands at the end of the system prompt, its gate is asked before all handlers of `tool_call`, and its thinking level is in force. Of two hooks with a mode of the same name the first counts.
---@param opts pi.ModeOptions
---@return fun() off removes it; while it is on only tools that look stay active, until a user chooses
function pi.mode(opts) end

--- Options of `pi.mode`.
---@class pi.ModeOptions
---@field name string letters, digits, `_` and `-`; not `default` and not `off`, with which people say that none is on
---@field description? string one line
---@field tools? string[] the names of the active tools; unless said those that are active without a mode
---@field section? string what the system prompt says while it is on
---@field gate? fun(event: pi.ToolCallEvent, ctx: pi.Context): pi.ToolCallResult? asked about each call first; an error blocks
---@field thinking? pi.ThinkingLevel while it is on, unless the user chooses another

--- Names the tools that the model has now.
---@return string[]
function pi.active_tools() end

--- Chooses the tools that the model has, among all there are. What `--tools` or `--no-tools` leaves out stays out. Raises for a name that no tool has.
---@param names string[]
function pi.set_active_tools(names) end

--- Takes a tool of this hook away; what it stood in the place of is there again. A call that runs goes on.
---@param name string
---@return boolean? ok
---@return string? message this hook has no such tool
function pi.remove_tool(name) end

--- Runs a tool as if the model had called it: it passes the same gates. A tool that stands in the place of one of the program's cannot call that one: the name is its own. A call that failed or was blocked has `is_error`. Inside the events of tools it nests at most 4 deep. The tool of an MCP server has the name `mcp__SERVER__TOOL`, and its server is started for it. Raises for another name that no tool has.
---@param name string
---@param input? table the arguments, named as in `tool_call`
---@return pi.ToolResult
function pi.call_tool(name, input) end

--- Hands in a message of your own, which the model sees as said by the user. Idle and without `trigger_turn` it is appended at once and nobody is asked. One without content is for the user alone, such as a marker that a renderer draws from its `details`: it is appended as soon as it can be, the model is never asked for it and never sees it, whatever the options say.
---@param message pi.CustomMessage
---@param opts? pi.SendMessageOptions
---@return boolean? ok
---@return string? message why it cannot be delivered, such as that hooks have sent enough of themselves
function pi.send_message(message, opts) end

--- When a message from outside reaches the model: with the next call, when it would be done, or with the next prompt.
---@alias pi.Delivery "steer"|"follow_up"|"next_turn"

--- Options of `pi.send_message`.
---@class pi.SendMessageOptions
---@field trigger_turn? boolean ask the model, when it is idle
---@field deliver_as? pi.Delivery while the agent works: `steer` (after the running tools) unless said

--- Hands in a prompt as if it had been typed; it always asks the model. While the agent works it is a follow-up unless said.
---@param content string|pi.Block[]
---@param opts? pi.SendUserOptions
---@return boolean? ok
---@return string? message it is empty, an attachment cannot be sent, or hooks have sent enough of themselves
function pi.send_user_message(content, opts) end

--- Options of `pi.send_user_message`.
---@class pi.SendUserOptions
---@field deliver_as? "steer"|"follow_up" while the agent works: `follow_up` unless said
---@field attachments? pi.Attachment[]
---@field expand? boolean run a command in it, as at the prompt

--- Types at the prompt: commands run, and while the agent works it waits as a follow-up. Blank text without attachments does nothing. For text that comes from others, a request or a file, use `pi.send_user_message`, which runs no command in it.
---@param text string
---@param attachments? pi.Attachment[]
---@return boolean? ok
---@return string? message which attachment cannot be sent, and why; or that hooks have sent enough of themselves
function pi.send(text, attachments) end

--- Saves state in the session that the model does not see, as an entry of type `custom`.
---@param custom_type string what it is; put the name of your hook in front
---@param data? any what JSON can hold
---@return string? id of the entry
---@return string? message why it could not be saved
function pi.append_entry(custom_type, data) end

--- Runs a program, without a shell. It has a session of its own, and so no terminal to ask at: `git push` that wants a password fails at once (`ctx.ui.run` gives a program the terminal). The session gets TERM and 2 s later KILL when time is up or the hook is stopped. A child that it leaves behind is not waited for, what that one writes is not read, and it ends with pi, unless it has a session of its own (`setsid`). It raises while the file loads, and before there is a session but in `app_start`.
---@param cmd string
---@param args? string[]
---@param opts? pi.ExecOptions
---@return pi.ExecResult? result
---@return string? message why it could not be started
function pi.exec(cmd, args, opts) end

--- Options of `pi.exec`.
---@class pi.ExecOptions
---@field timeout? integer ms; 10 minutes unless said
---@field cwd? string where it runs; a relative path begins at the working directory
---@field env? table<string, string> added to the environment
---@field stdin? string what it can read
---@field signal? pi.Signal ends it, too
---@field on_output? fun(text: string, stream: "stdout"|"stderr"): boolean? gets what the program writes while it runs, piece by piece; true closes that output. An error ends the program and is one of `pi.exec`
---@field max_bytes? integer what is kept of each output, 16 MiB unless said, 64 MiB at most; more is read and dropped

--- What came of a program.
---@class pi.ExecResult
---@field stdout string as far as `max_bytes` allows
---@field stderr string as far as `max_bytes` allows
---@field code integer exit status; -1 when it was killed
---@field killed boolean time was up, or somebody interrupted
---@field truncated boolean there was more output

--- Starts a program that runs beside the hook, without a shell, in a session of its own, and so without a terminal. Its functions are called one after the other, in the order of what each output brought. Who writes faster than the hook reads waits, and nothing is stored without end. When the program ends, what it has left of its session is ended. When the hook is saved anew, removed or switched off, or pi ends, the session gets TERM, and 2 s later KILL; with `keep` a new version of the hook can take it up. A hook may have 64 of them.
---@param cmd string
---@param args? string[]
---@param opts? pi.SpawnOptions
---@return pi.Program? program
---@return string? message why it could not be started
function pi.spawn(cmd, args, opts) end

--- What a hook wants to hear of a program.
---@class pi.SpawnedOptions
---@field lines? boolean false: output comes as it is written; otherwise in lines, without their ends
---@field max_bytes? integer how long a line or piece can be, 1 MiB unless said, 64 MiB at most; a longer line comes in several
---@field on_stdout? fun(text: string, program: pi.Program): boolean? gets a line; true closes the output. Without it what comes is dropped
---@field on_stderr? fun(text: string, program: pi.Program): boolean? as `on_stdout`
---@field on_exit? fun(exit: pi.Exit) is called when the program has ended and all of its output was handed over

--- Options of `pi.spawn`.
---@class pi.SpawnOptions: pi.SpawnedOptions
---@field cwd? string where it runs; a relative path begins at the working directory
---@field env? table<string, string> added to the environment
---@field keep? string a name: the next version of the hook may take the program up with `pi.spawned`, and its output waits until then. It ends when `session_start` of that version is over and has not done so

--- How a program ended.
---@class pi.Exit
---@field code integer exit status; -1 when a signal ended it
---@field signal? string such as `TERM`, when one ended it
---@field killed boolean the hook, or its end, has ended it

--- A program that runs beside the hook, or has run.
---@class pi.Program
---@field pid integer the number of the process, its group and its session
local program = {}

--- Writes to its standard input, and waits while the pipe is full.
---@param text string
---@return boolean? ok
---@return string? message `ended`: it has ended, or reads no more
function program.write(text) end

--- Ends its standard input.
function program.close_stdin() end

--- Sends a signal to its session: itself, and what it has started and not let go.
---@param signal? "TERM"|"KILL"|"INT"|"HUP"|"QUIT"|"USR1"|"USR2"|"STOP"|"CONT"|string `TERM` unless said
---@return boolean? ok
---@return string? message `ended`, or that it cannot be sent
function program.kill(signal) end

--- Whether it has not ended.
---@return boolean
function program.running() end

--- Waits until it has ended and its output was handed over; in a function of its own only for the end.
---@param opts? pi.WaitOptions
---@return pi.Exit? exit
---@return string? message `timeout`, or that a newer version of the hook has it
function program.wait(opts) end

--- Options of `program.wait`.
---@class pi.WaitOptions
---@field timeout? integer ms; without it as long as it takes

--- The program that is kept under a name: that the version of the hook before has started, or this one. The functions take the place of those that it had; without options this version's stay.
---@param name string
---@param opts? pi.SpawnedOptions
---@return pi.Program? program
---@return string? message none is kept as that
function pi.spawned(name, opts) end

--- Says how messages of a type look on the screen. Of several hooks the first that returns something is asked.
---@param custom_type string
---@param fn fun(message: pi.Message, opts: pi.RenderOptions, theme: pi.Theme): string|string[]?
function pi.register_message_renderer(custom_type, fn) end

--- Says how the calls and results of a tool look on the screen, a built-in one too, or the messages of a type. Of several hooks the first that returns something is asked, then the tool itself; a function that returns nil leaves the drawing to the next.
---@param opts pi.RendererOptions
function pi.renderer(opts) end

--- Options of `pi.renderer`: one of `tool` and `entry`.
---@class pi.RendererOptions
---@field tool? string the tool whose calls and results are drawn
---@field entry? string the `custom_type` of the messages that are drawn
---@field call? fun(input: table, opts: pi.CallRenderOptions, theme: pi.Theme): string|string[]? draws a call of the tool
---@field result? fun(r: pi.ToolResult|pi.Message, opts: pi.CallRenderOptions, theme: pi.Theme): string|string[]? draws what the tool gave back, with `opts.partial` what it reported last; or the message, whose options are `expanded` and `width` alone

--- Offers what a word that begins with a prefix can become, as it is typed. What does not fit the word is left out by the program, so `complete` may return all there is. A call that takes longer than 300 ms is given up, and so is one when more is typed.
---@param prefix string such as `#`: at most 16 characters without a blank, not beginning with `!`, and with `/` only as the beginning of the names of commands, such as `/skill:`
---@param opts pi.WordOptions
---@return fun() off takes it away
function pi.completion(prefix, opts) end

--- Options of `pi.completion`.
---@class pi.WordOptions
---@field description? string shown with what has no description of its own
---@field complete fun(word: string, ctx: pi.Context): (string|pi.Choice)[]? what the word, which is given without the prefix, can become; values are put in its place, with the prefix or without

--- Brings skills, prompt templates and agents: the names of folders beside the hook, or below that. It may be called at any time, and a later call takes the place of an earlier one; templates and `/skill:NAME` are there at once, the list of skills that the model is told with the next session.
---@param opts pi.ResourcesOptions
---@return boolean? ok
---@return string? message a folder is not there, or a hook of a project brings agents, which are files of its `.pi/agents`
function pi.resources(opts) end

--- Options of `pi.resources`.
---@class pi.ResourcesOptions
---@field skills? string a folder with `NAME/SKILL.md`
---@field prompts? string a folder with `NAME.md`
---@field agents? string a folder with `NAME.md`, each an agent: `NAME` where the user has none of that name, and always `HOOK:NAME`

--- Takes a key, such as `ctrl+k`, `alt+x` or `f5`, two with a blank between them, such as `ctrl+k x`, or `esc esc`. It works at the open prompt, and what is typed there stays. Keys that the program uses, as `[keys]` binds them, are refused with a warning; among hooks the last wins.
---@param key string
---@param opts pi.ShortcutOptions
---@return boolean taken
function pi.shortcut(key, opts) end

--- Options of `pi.shortcut`.
---@class pi.ShortcutOptions
---@field description? string one line for `/hotkeys`
---@field handler fun(ctx: pi.CommandContext) what it does

--- Adds a flag to the command line: `pi --name` or `pi --name=value`. A value
--- stands behind `=`; without one it is `true`.
---@param name string
---@param opts pi.FlagOptions
function pi.flag(name, opts) end

--- Options of `pi.flag`.
---@class pi.FlagOptions
---@field description? string one line for people
---@field type? "string"|"boolean"|"number" that of `default` unless said, or `boolean`
---@field default? string|boolean|number what it is when it was not given

--- The value of a flag that this or another hook added; nil when no hook has it.
---@param name string
---@return string|boolean|number?
function pi.get_flag(name) end

--- Adds models, or changes how a provider is reached that there is. With `stream` a function of yours is the model, otherwise a server that speaks a known API. It may be called at any time, and counts at once; of several hooks the last says what counts.
---@param name string what stands before the slash in `provider/id`
---@param opts pi.ProviderOptions
function pi.provider(name, opts) end

--- Options of `pi.provider`.
---@class pi.ProviderOptions
---@field base_url? string of the server, without the API's own path
---@field api? "anthropic-messages"|"openai-completions"|"openai-responses"|"google-generative-ai"|string what the server speaks
---@field api_key? string the key, `$NAME` for a variable of the environment, or `!command`; none: as it was, or no key is sent
---@field headers? table<string, string> sent with each request
---@field compat? table<string, any> switches of the API, as in the settings
---@field models? (string|pi.ModelOptions)[] ids, or tables; the provider has no others then. None: those it had, or any id
---@field stream? fun(request: pi.ModelRequest, emit: fun(delta: pi.StreamDelta)) answers instead of a server
---@field login? pi.LoginOptions how a user signs in with `/login` and `pi login`; none: as it was, or with a key

--- How a user signs in to a provider: a standard way, which has a `kind` and its fields, or functions. What comes of it is kept in `auth.json`, renewed before it ends, and lets requests in.
--- An entry goes where it came from only: to the token address that gave it, or to the functions of this hook in this place. What another program or the user's settings signed in with, no hook is given.
---@class pi.LoginOptions
---@field kind? "pkce"|"device"|"key" a browser comes back to this machine; a code is typed in a browser anywhere; a key is typed
---@field authorize_url? string of `pkce`: the page that the browser opens
---@field device_url? string of `device`: gives the code
---@field token_url? string of both
---@field client_id? string of both: of a client that you registered, or that the provider publishes for this use
---@field scopes? string[]
---@field redirect? string of `pkce`: where the browser comes back to; `http://127.0.0.1:0/callback` unless said, and port 0 is any free one
---@field extra? table<string, string> goes along with each request, a renewal too
---@field start? fun(ui: pi.LoginUI): pi.Credential|table|nil, string? in place of `kind`: signs in, and returns what is kept; nil and a message: it did not work
---@field refresh? fun(credential: pi.Credential): pi.Credential|table|nil, string? returns what is kept in place of one that is about to end, or was refused; nil and a message: it did not work, and the one from before stays. None: what `ui.oauth` returned is renewed at its token address
---@field auth? fun(credential: pi.Credential): pi.LoginAuth?, string? what a request is let in with; none: `access` is the key

--- What a login keeps. Beside these it has what the functions of your hook put there.
---@class pi.Credential
---@field access? string lets requests in
---@field refresh? string
---@field expires? number ms since 1970; it is renewed five minutes before, or after 80 % of a life shorter than 25 minutes. None: when it is refused
---@field [string] any

--- What a request is let in with; what is left out is as it is without a login.
---@class pi.LoginAuth
---@field key? string
---@field headers? table<string, string>
---@field base_url? string of the server, without the API's own path

--- The user who signs in, for `start`. A function waits for them, and the time of the hook does not count meanwhile.
---@class pi.LoginUI
local ui = {}

--- Shows an address and opens it in a browser. That there is no browser is told to the user. Only `https` addresses are opened, and those of this machine.
---@param url string
---@return boolean? ok
---@return string? message
function ui.open(url) end

--- Tells the user something, such as a code to type.
---@param text string
function ui.show(text) end

--- What the user types.
---@param prompt string
---@param opts? pi.LoginAskOptions
---@return string? text
---@return string? message they left, or nobody is there
function ui.ask(prompt, opts) end

--- Options of `ui.ask`.
---@class pi.LoginAskOptions
---@field secret? boolean what is typed is not shown

--- Waits, such as between two questions to a server.
---@param seconds number
function ui.wait(seconds) end

--- Runs a standard way to sign in, with a browser or a code, as `kind` has it.
---@param opts pi.LoginFlow
---@return pi.Credential? credential with its `token_url`, `client_id` and `extra`, by which it is renewed
---@return string? message nobody signed in
function ui.oauth(opts) end

--- A standard way to sign in.
---@class pi.LoginFlow
---@field kind "pkce"|"device"
---@field authorize_url? string of `pkce`
---@field device_url? string of `device`
---@field token_url string
---@field client_id string
---@field scopes? string[]
---@field redirect? string of `pkce`
---@field extra? table<string, string>

--- What is known of a model that a hook adds. What is left out stays as it is, or is what pi knows of models of that name, but for the price.
---@class pi.ModelOptions
---@field id string
---@field name? string for people
---@field context_window? integer tokens
---@field max_tokens? integer tokens of one answer
---@field reasoning? boolean it can think before it answers
---@field levels? pi.ThinkingLevel[] how much it can be asked to think, `off` among them if it need not; says `reasoning` too
---@field input? string[] `text` and `image`; unless said both of a server, and text of a script
---@field cost? pi.PriceOptions nothing: nobody knows

--- What a model costs, in dollars for a million tokens; nobody knows what is left out.
---@class pi.PriceOptions
---@field input? number
---@field output? number
---@field cache_read? number as `input` unless said
---@field cache_write? number as `input` unless said
---@field above? pi.PriceStepOptions[] what longer prompts cost, the shortest first

--- What a request costs whose prompt, cached tokens among it, has more than so many tokens: all of it.
---@class pi.PriceStepOptions
---@field tokens integer
---@field input? number
---@field output? number
---@field cache_read? number as `input` unless said
---@field cache_write? number as `input` unless said

--- What a model that is a script is asked.
---@class pi.ModelRequest
---@field model pi.Model
---@field system string the system prompt
---@field messages pi.Message[] roles user, assistant and toolResult
---@field tools pi.ToolSpec[]
---@field thinking_level pi.ThinkingLevel
---@field session_id? string

--- A tool as a model is told of it.
---@class pi.ToolSpec
---@field name string
---@field description string
---@field parameters? table JSON Schema

--- A piece of an answer.
---@class pi.StreamDelta
---@field type "text"|"thinking"|"tool_call"|"usage"|"stop" which of the other fields count
---@field text? string of text and thinking
---@field thinking_signature? string of thinking: what its model wants back with it; the thought ends there
---@field id? string of a tool call; made up unless given
---@field name? string of a tool call
---@field arguments? table of a tool call
---@field input? integer of usage
---@field output? integer of usage
---@field cache_read? integer of usage
---@field cache_write? integer of usage
---@field reason? pi.StopReason of stop; not needed for an answer that ends by itself
---@field message? string of stop: what went wrong
---@field retryable? boolean of stop, with the reason `error`: it may not happen the next time, so ask again (`[retry]` in `config.toml`)

--- Takes back a provider of this hook. What was there before comes back; a session whose model is gone is told so, and another is chosen by the user.
---@param name string
---@return boolean had it was there
function pi.remove_provider(name) end

--- Names the session; an empty name takes it away.
---@param name string
---@return boolean? ok
---@return string? message why it could not be saved
function pi.set_session_name(name) end

--- The name of the session.
---@return string?
function pi.session_name() end

--- Names an entry; without a label the name goes away.
---@param entry_id string
---@param label? string
---@return boolean? ok
---@return string? message there is no such entry
function pi.set_label(entry_id, label) end

--- Lists the slash commands: built in, of hooks, prompt templates and skills.
---@return pi.CommandInfo[]
function pi.commands() end

--- A slash command as hooks are told of it.
---@class pi.CommandInfo
---@field name string without the slash
---@field description? string
---@field args? string how its arguments are written
---@field hook? string the hook that brings it; nil when it is built in
---@field kind "program"|"hook"|"template"|"skill" where it comes from
---@field path? string the file that it comes from; nil when it is built in

--- Lists the skills that there are.
---@return pi.SkillInfo[]
function pi.skills() end

--- A skill as hooks are told of it.
---@class pi.SkillInfo
---@field name string `/skill:NAME` follows it
---@field description string when it is of use
---@field path string its `SKILL.md`
---@field from string where it comes from

--- Lists the sessions that are kept, the last written first: those of the project, of another folder, or all. A large one takes a while to read.
---@param opts? pi.SessionsOptions
---@return pi.SessionInfo[]? sessions
---@return string? message none are kept
function pi.sessions(opts) end

--- Options of `pi.sessions`.
---@class pi.SessionsOptions
---@field cwd? string the folder that they were started in, instead of the project
---@field all? boolean those of all folders

--- A session of `pi.sessions`.
---@class pi.SessionInfo
---@field path string its file
---@field id string its id
---@field cwd string where it was started
---@field name? string that it was given
---@field first_prompt? string as it was typed
---@field parent_session? string the file that it was branched off from
---@field branch? string of git, that it was on last
---@field messages integer how many it has, on all branches
---@field created? integer milliseconds since 1970
---@field modified integer milliseconds since 1970, of the last write

--- Options of `pi.all`.
---@class pi.AllOptions
---@field limit? integer how many run at a time; 4 unless said

--- Calls functions beside each other and waits for them: while one waits, for a program or a model, the others run. Gives
--- as many results as there are functions, the first value of each, and no list: `local a, b = pi.all { f, g }`. The first that raises ends the others, and raises here. At most 100.
---@param functions (fun(): any)[]
---@param opts? pi.AllOptions
---@return any ...
function pi.all(functions, opts) end

--- A value that comes later. A handler that has asked something waits for it with `wait`; what hears the answer calls `resolve`.
--- One that nobody settles is open; a hook may have 10,000 that are. All end with the hook.
---@class pi.Promise
local promise = {}

--- Gives it its value. Only the first `resolve` or `reject` counts.
---@param value? any
---@return boolean first false: it was settled before
function promise.resolve(value) end

--- Says that there will be no value. Only the first `resolve` or `reject` counts.
---@param message string why
---@return boolean first false: it was settled before
function promise.reject(message) end

--- It has a value, or was rejected.
---@return boolean
function promise.settled() end

--- Options of `wait` of a promise.
---@class pi.PromiseOptions
---@field timeout? number ms; without it there is no limit
---@field signal? pi.Signal ends the waiting when it is cancelled

--- Waits until it is settled, and lets the hook's other handlers run meanwhile. What ends only the waiting leaves the promise open.
---@param opts? pi.PromiseOptions
---@return any value
---@return string? message what it was rejected with, `timeout`, `cancelled`, or `the hook was reloaded`
function promise.wait(opts) end

--- A promise that your code settles, such as the answer to a request that went out with an id:
--- `waiting[id] = pi.promise()`, then `waiting[id].wait{ timeout = 5000 }`; whoever reads the answer calls `waiting[id].resolve(answer)`.
--- Raises when 10,000 are open.
---@return pi.Promise
function pi.promise() end

--- Runs a function beside what goes on, as soon as the caller waits for something or ends. The promise that it returns gets the
--- first value that the function returns; `nil, "message"` and an error reject it. An error for whose promise nobody waits is told as
--- any error of the hook. Raises when 100 run; they end with the hook.
---@param fn fun(): any what it does
---@return pi.Promise
function pi.async(fn) end

--- Something with a function `wait` that returns a value, or nil and a message: a promise, a program of `pi.spawn`.
---@class pi.Waitable
---@field wait fun(): any waits for the value

--- Waits for the first of several that has a value: of functions, which it calls beside each other, promises, and other things with
--- `wait`. The functions that still run then are ended.
---@param list (pi.Promise|pi.Waitable|fun(): any)[] 1 to 100
---@return any value nil when all failed
---@return integer|string index whose value it is; when all failed, what they failed with
function pi.any(list) end

--- Options of `pi.signal`.
---@class pi.SignalOptions
---@field timeout? number ms, after which it is cancelled
---@field any? pi.Signal[] it is cancelled when one of these is, such as `{ ctx.signal }`

--- A signal that you cancel yourself, or a time, or another signal: an option `signal` takes it as it takes `ctx.signal`.
---@param opts? pi.SignalOptions
---@return pi.OwnSignal
function pi.signal(opts) end

--- A signal of `pi.signal`.
---@class pi.OwnSignal: pi.Signal
local own = {}

--- Cancels it. What was given to `on_cancel` is called once the caller waits for something or ends.
---@param reason? string what `reason` returns; `cancelled` unless said
---@return boolean first false: it was cancelled before
function own.cancel(reason) end

--- Options of `pi.defer_exit`.
---@class pi.DeferOptions
---@field timeout? integer ms of the end; as long as `exit_wait` lets it unless said

--- Lets the end of the program wait for work that must finish: until `done()` is called, the hook is reloaded, or the time is
--- over. The user sees what it waits for, and Esc cuts it short. What is cut off is said and logged. All hooks together have
--- `exit_wait` (10 s), and 2 s over RPC and ACP and after a signal. A handler of `session_shutdown` has that long, too.
---@param text string what is being finished, for the user
---@param opts? pi.DeferOptions
---@return fun() done
function pi.defer_exit(text, opts) end

--- Tells the other hooks: their `pi.on(name)` handlers get a `pi.Emitted`, in chain order, and have run when it returns. What they return is ignored. Events that answer events nest at most 8 deep.
---@param name string with a colon, such as `myhook:done`
---@param data? any what JSON can hold
function pi.emit(name, data) end

--- What the handler of an event gets that a hook emitted.
---@class pi.Emitted
---@field type string the name of the event
---@field data any a copy of what was emitted

--- Writes a line to the hook log, which `/hooks log` shows.
---@param ... any tables are written as JSON
function pi.log(...) end

-- Listening ---------------------------------------------------------------------

--- Calls `fn` for each event of a name, until the function that it returns is called. Of several handlers in a file the one that was registered first is called first. A name with a colon is one that hooks emit; any other that is not known raises.
---@overload fun(event: "project_trust", fn: fun(event: pi.ProjectTrustEvent, ctx: pi.Context): pi.ProjectTrustResult?): fun()
---@overload fun(event: "app_start", fn: fun(event: pi.AppStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_directory", fn: fun(event: pi.SessionDirectoryEvent, ctx: pi.Context): pi.SessionDirectoryResult?): fun()
---@overload fun(event: "session_start", fn: fun(event: pi.SessionStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_before_switch", fn: fun(event: pi.SessionBeforeSwitchEvent, ctx: pi.Context): pi.SessionBeforeSwitchResult?): fun()
---@overload fun(event: "session_switch", fn: fun(event: pi.SessionSwitchEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_before_new", fn: fun(event: pi.SessionBeforeNewEvent, ctx: pi.Context): pi.SessionBeforeNewResult?): fun()
---@overload fun(event: "session_new", fn: fun(event: pi.SessionNewEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_before_branch", fn: fun(event: pi.SessionBeforeBranchEvent, ctx: pi.Context): pi.SessionBeforeBranchResult?): fun()
---@overload fun(event: "session_branch", fn: fun(event: pi.SessionBranchEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_before_compact", fn: fun(event: pi.SessionBeforeCompactEvent, ctx: pi.Context): pi.SessionBeforeCompactResult?): fun()
---@overload fun(event: "session_compacting", fn: fun(event: pi.SessionCompactingEvent, ctx: pi.Context): pi.SessionCompactingResult?): fun()
---@overload fun(event: "session_compact", fn: fun(event: pi.SessionCompactEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_compact_failed", fn: fun(event: pi.SessionCompactFailedEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_before_tree", fn: fun(event: pi.SessionBeforeTreeEvent, ctx: pi.Context): pi.SessionBeforeTreeResult?): fun()
---@overload fun(event: "session_tree", fn: fun(event: pi.SessionTreeEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_info_changed", fn: fun(event: pi.SessionInfoChangedEvent, ctx: pi.Context)): fun()
---@overload fun(event: "session_shutdown", fn: fun(event: pi.SessionShutdownEvent, ctx: pi.Context)): fun()
---@overload fun(event: "line", fn: fun(event: pi.LineEvent, ctx: pi.Context): pi.LineResult?): fun()
---@overload fun(event: "input", fn: fun(event: pi.InputEvent, ctx: pi.Context): pi.InputResult?): fun()
---@overload fun(event: "before_agent_start", fn: fun(event: pi.BeforeAgentStartEvent, ctx: pi.Context): pi.BeforeAgentStartResult?): fun()
---@overload fun(event: "agent_start", fn: fun(event: pi.AgentStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "agent_end", fn: fun(event: pi.AgentEndEvent, ctx: pi.Context)): fun()
---@overload fun(event: "agent_before_settle", fn: fun(event: pi.AgentBeforeSettleEvent, ctx: pi.Context): pi.AgentBeforeSettleResult?): fun()
---@overload fun(event: "agent_settled", fn: fun(event: pi.AgentSettledEvent, ctx: pi.SettledContext)): fun()
---@overload fun(event: "turn_start", fn: fun(event: pi.TurnStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "turn_end", fn: fun(event: pi.TurnEndEvent, ctx: pi.Context): pi.TurnEndResult?): fun()
---@overload fun(event: "context", fn: fun(event: pi.ContextEvent, ctx: pi.Context): pi.ContextResult?): fun()
---@overload fun(event: "continuation_limit", fn: fun(event: pi.ContinuationLimitEvent, ctx: pi.Context)): fun()
---@overload fun(event: "before_provider_request", fn: fun(event: pi.BeforeProviderRequestEvent, ctx: pi.Context): pi.BeforeProviderRequestResult?): fun()
---@overload fun(event: "before_provider_headers", fn: fun(event: pi.BeforeProviderHeadersEvent, ctx: pi.Context): pi.BeforeProviderHeadersResult?): fun()
---@overload fun(event: "after_provider_response", fn: fun(event: pi.AfterProviderResponseEvent, ctx: pi.Context)): fun()
---@overload fun(event: "message_start", fn: fun(event: pi.MessageStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "message_update", fn: fun(event: pi.MessageUpdateEvent, ctx: pi.Context): pi.MessageUpdateResult?): fun()
---@overload fun(event: "message_end", fn: fun(event: pi.MessageEndEvent, ctx: pi.Context): pi.MessageEndResult?): fun()
---@overload fun(event: "model_select", fn: fun(event: pi.ModelSelectEvent, ctx: pi.Context)): fun()
---@overload fun(event: "thinking_level_select", fn: fun(event: pi.ThinkingLevelSelectEvent, ctx: pi.Context)): fun()
---@overload fun(event: "mode_select", fn: fun(event: pi.ModeSelectEvent, ctx: pi.Context)): fun()
---@overload fun(event: "ui_prompt_start", fn: fun(event: pi.UiPromptStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "ui_prompt_end", fn: fun(event: pi.UiPromptEndEvent, ctx: pi.Context)): fun()
---@overload fun(event: "focus", fn: fun(event: pi.FocusEvent, ctx: pi.Context)): fun()
---@overload fun(event: "ui_prompt", fn: fun(event: pi.UiPromptEvent, ctx: pi.Context)): fun()
---@overload fun(event: "hook_error", fn: fun(event: pi.HookErrorEvent, ctx: pi.Context)): fun()
---@overload fun(event: "compaction_start", fn: fun(event: pi.CompactionStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "compaction_end", fn: fun(event: pi.CompactionEndEvent, ctx: pi.Context)): fun()
---@overload fun(event: "auto_compaction_start", fn: fun(event: pi.AutoCompactionStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "auto_compaction_end", fn: fun(event: pi.AutoCompactionEndEvent, ctx: pi.Context)): fun()
---@overload fun(event: "auto_retry_start", fn: fun(event: pi.AutoRetryStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "auto_retry_end", fn: fun(event: pi.AutoRetryEndEvent, ctx: pi.Context)): fun()
---@overload fun(event: "tool_call", fn: fun(event: pi.ToolCallEvent, ctx: pi.Context): pi.ToolCallResult?): fun()
---@overload fun(event: "tool_result", fn: fun(event: pi.ToolResultEvent, ctx: pi.Context): pi.ToolResultResult?): fun()
---@overload fun(event: "tool_execution_start", fn: fun(event: pi.ToolExecutionStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "tool_execution_update", fn: fun(event: pi.ToolExecutionUpdateEvent, ctx: pi.Context)): fun()
---@overload fun(event: "tool_execution_end", fn: fun(event: pi.ToolExecutionEndEvent, ctx: pi.Context)): fun()
---@overload fun(event: "user_bash", fn: fun(event: pi.UserBashEvent, ctx: pi.Context): pi.UserBashResult?): fun()
---@overload fun(event: "shell", fn: fun(event: pi.ShellEvent, ctx: pi.Context): pi.ShellResult?): fun()
---@overload fun(event: "mcp_server", fn: fun(event: pi.McpServerEvent, ctx: pi.Context)): fun()
---@overload fun(event: "mcp_change", fn: fun(event: pi.McpChangeEvent, ctx: pi.Context)): fun()
---@overload fun(event: "child_start", fn: fun(event: pi.ChildStartEvent, ctx: pi.Context)): fun()
---@overload fun(event: "child_end", fn: fun(event: pi.ChildEndEvent, ctx: pi.Context)): fun()
---@param event string
---@param fn function
---@param opts? pi.OnOptions
---@return fun() off takes the handler off again
function pi.on(event, fn, opts) end

--- Options of `pi.on`.
---@class pi.OnOptions
---@field roles? "all" of `message_start` and `message_end`: the messages of all roles, not only those of the model
---@field group? pi.HandlerGroup handlers whose answers go together by a rule of their own, in this hook and in others

--- A group of handlers. What they answer goes together by its rule; between it and all other handlers the rule of the event holds. There are none for gates, for what stops a stream or trusts a project, and where answers are ignored.
---@class pi.HandlerGroup
---@field name string what its handlers have in common, such as a module that all of them use
---@field rule "first"|"last"|"stop" `first`: of what they answer the first counts; `last`: the last counts, as if those before it had not been given, which is for events whose handlers do not see the answers of others; `stop`: the first counts, and those behind it are not asked
---@field keys? string[] of an answer, with the rule `first`: of each of these the first counts, and of all others the rule of the event
