---@meta pi.test

--- What the files have that `pi test` runs; hooks themselves cannot require it. A case has a
--- home directory, a project and a session of its own, a model that answers from a script, and
--- nobody to ask. The run begins, with `session_start`, at the first `prompt`, `command`, `tool`,
--- `shell`, `key`, `complete`, `focus`, `soon`, `entries`, `messages` or `reopen`; what hooks read at
--- the beginning is written with `file` before. A check that fails ends the case. What does something, as `prompt`, returns
--- when nothing is left to do: messages that hooks sent are answered, their handlers have ended.
--- In a function that answers the model while the agent works it returns at once, as what is typed
--- meanwhile: a command has run, or waits for what comes later; a prompt steers and has no answer yet;
--- `/new`, `/compact` and the others that end the work are refused, and `reopen` raises.
---@class pi.test
---@field clock pi.TestClock the time of the case, which hooks see in `pi.time`, `pi.timer` and `os`: it goes on only as you set it forward, by what hooks sleep (which takes that long where something waits for them), and while the session ends
local test = {}

--- Adds a case. Cases run one after the other, in their order.
---@param name string
---@param body fun(t: pi.test) is given this module
function test.case(name, body) end

--- Adds a hook under test, a file or a folder with `init.lua`; several are a chain, in this
--- order. The case works on a copy.
---@param path string relative to the test file
function test.hook(path) end

--- Changes settings, as config.toml would: `{ thinking = "low", compaction = { enabled = false } }`.
---@param settings table
function test.config(settings) end

--- Sets flags of hooks, as the command line would.
---@param flags table<string, string|number|boolean>
function test.flags(flags) end

--- Sets environment variables, of which a case else has none but `HOME`, `PATH`, `LANG` and their like.
---@param variables table<string, string>
function test.env(variables) end

--- Approves the hooks below `.pi/hooks` of the project, which else do not run.
function test.approve() end

--- Writes a file into the project, with its folders. `~/…` is in the home directory.
---@param path string
---@param text string
---@param opts? pi.TestFileOptions
function test.file(path, text, opts) end

--- Options of `t.file`.
---@class pi.TestFileOptions
---@field mode? string the rights in octal: `"755"` for a program; `"600"` unless said

--- Reads a file of the project.
---@param path string from the project, or `~/…` in the home directory
---@return string? text
---@return string? err
function test.read(path) end

--- The project of the case.
---@return string path absolute
function test.dir() end

--- Adds answers of the model, in the order of the requests, whoever makes them. A request for
--- which there is none fails the case.
---@param steps (string|pi.TestStep|fun(request: pi.TestRequest): string|pi.TestStep|nil)[]
function test.model(steps) end

--- Makes a user be there, who answers dialogs: by the name of the dialog, or by a function
--- for all. A question for which there is nothing fails the case; nil and false from a
--- function leave the dialog.
---@param answers pi.TestAnswers|fun(kind: string, title: string, options: string|string[]): boolean|string|string[]|nil
function test.answers(answers) end

--- Plays an MCP server, without a process: what is configured on this machine is never used, and a
--- server that a hook adds or connects to has to be played too. Calls pass the gates, cache and search
--- as always. Said before the run begins; of a name that is played already it is another version of the
--- server, as an update brings one: one that runs says so at once, else it shows at the next start.
---@param server pi.TestServer
function test.mcp(server) end

--- Plays agents that hooks use (`pi.agent`): what comes of those that have a name, one answer after the other, without a run.
--- Without a `name` it is all that no other call names. Agents that nobody plays work as always, with the model of the case. One
--- for which there is no answer left fails the case. A played agent has no events.
---@param played pi.TestAgent
function test.agent(played) end

--- Serves hooks on this machine, as the server of a provider or of a page they read, until the case ends. A path that is not
--- there is status 404; a function that raises fails the case.
---@param paths table<string, fun(request: pi.HttpRequest): string|pi.HttpAnswer?> by their paths, without a query: `{ ["/token"] = function(request) … end }`
---@return pi.Server? server
---@return string? message no port is free
function test.http(paths) end

--- Makes a user be there who has a browser: the function is called with each address that is opened, and may follow it with `http.get`,
--- which goes where it is sent, back to the program too. Who opens an address goes on when it has returned. Without it
--- an address that is opened fails the case.
---@param visit fun(url: string)
function test.browser(visit) end

--- Types a prompt.
---@param text string
---@param attachments? (string|pi.TestAttachment)[] paths in the project, or tables
---@return string? answer the last one of the model; nil if the run failed
---@return string? err
function test.prompt(text, attachments) end

--- Types a command.
---@param line string such as `/name arguments`
---@return string? shown what a user would have read meanwhile
---@return string? err
function test.command(line) end

--- Calls a tool without a model. The call passes the gates.
---@param name string
---@param input? table
---@return pi.TestResult
function test.tool(name, input) end

--- Runs a command of the user, as `!` does.
---@param line string
---@return pi.TestShell? outcome
---@return string? err
function test.shell(line) end

--- Presses a key that a hook took with `pi.shortcut`.
---@param name string its modifiers in any order
---@return boolean? ok
---@return string? err
function test.key(name) end

--- What hooks offer for a word being typed.
---@param word string with its prefix
---@return string[] values
function test.complete(word) end

--- The component that a hook showed last and that is still shown, or nil. A hook that waits for
--- its component needs `custom` of `t.answers`.
---@return pi.TestView? view
function test.view() end

--- The line being typed, which hooks can fill.
---@return string
function test.typed() end

--- The name that a hook gave the window of the terminal; nil: the usual one.
---@return string?
function test.title() end

--- What a hook says is shown while the agent works; nil: the usual text; false: nothing.
---@return string|false?
function test.working() end

--- The headers of the hooks, one below the other, as they are drawn for a width.
---@param width? integer 80 unless you say otherwise
---@return string[] lines
function test.header(width) end

--- The footers of the hooks, likewise.
---@param width? integer
---@return string[] lines
function test.footer(width) end

--- The widget under a key, likewise; nil if there is none.
---@param key string
---@param width? integer
---@return string[]? lines
function test.widget(key, width) end

--- The window of the terminal comes to the front, or another one does: the event `focus`.
---@param focused boolean
function test.focus(focused) end

--- The texts that hooks have copied, in their order.
---@return string[]
function test.copied() end

--- What hooks have told with `ctx.ui.notify_desktop`, in its order. It is told unless the case
--- sets `[ui] notify` to `off`, or has said that the window is in front.
---@return pi.TestDesktopNotice[]
function test.desktop() end

--- Saves another text of a hook, or of a file beside one, and returns when it is live.
---@param path string as in `t.hook`
---@param text? string nil: all hooks load anew as they are, as `/reload` has them
---@return boolean? ok nil: it does not load, and the version before runs on
---@return string? err
function test.edit_hook(path, text) end

--- Ends the program and begins it again with the same session, which has what prompts, commands and tools of the case wrote.
---@return string shown what a user would have read meanwhile
function test.reopen() end

--- Waits until a function returns what is true. It is for what happens outside of the run, such
--- as a file that is noticed; else nothing has to be waited for.
---@param fn fun(): boolean
---@param message? string
function test.soon(fn, message) end

--- Records events as hooks get them, before they have answered; also those of `pi.emit`.
---@param names string[]
---@return table[] seen grows as they come
function test.events(names) end

--- The requests so far.
---@return pi.TestRequest[]
function test.requests() end

--- The entries of the session, from its root to its leaf.
---@return pi.Entry[]
function test.entries() end

--- What the model sees of them.
---@return pi.Message[]
function test.messages() end

--- What was told with `ctx.ui.notify`, and what the program itself told.
---@return pi.TestNotice[]
function test.notices() end

--- The status line, by key.
---@return table<string, string>
function test.status() end

--- The calls of tools so far, also those of agents that hooks use, in the order in which they began.
---@param name? string of the tool
---@return pi.TestCall[]
function test.calls(name) end

--- What a user saw of the calls of tools, one drawing after the other, as hooks draw them in 80 columns: with each
--- `call.update` of a running call, when a hook asks for it with `opts.redraw` (of those within 100 ms of the clock of the
--- case one), and at its end. Each report is there, however fast they come.
---@param tool? string its name; nil: all
---@return pi.TestDrawing[]
function test.partial(tool) end

--- The calls that reached played servers so far, in their order; what a gate blocked is not among them.
---@param server? string its name; nil: all
---@return pi.TestServerCall[]
function test.mcp_calls(server) end

--- What hooks have asked agents so far, in their order, those that work as always among them.
---@param name? string of the agent; nil: all
---@return pi.TestAgentCall[]
function test.agent_calls(name) end

--- Checks that two values are the same; tables are compared by what is in them.
---@param got any
---@param want any
---@param message? string
function test.equal(got, want, message) end

--- Checks that a text matches a pattern of Lua.
---@param text any
---@param pattern string
---@param message? string
function test.match(text, pattern, message) end

--- Checks that a value is neither nil nor false. Of a call that returns nil and a message, the
--- message is shown.
---@param value any
---@param message? any
---@return any value
function test.ok(value, message) end

--- Checks that a call of a tool was refused and did not run.
---@param tool string
---@param reason? string a part of it
function test.blocked(tool, reason) end

--- Checks that a call of a tool ran.
---@param tool string
---@param input? string a part of its arguments as JSON
function test.ran(tool, input) end

--- Checks that a user would have read a text: in a notice, a dialog, the status line, a
--- widget, a message of a hook, or as the outcome of a command.
---@param part string
function test.shown(part) end

--- Checks that a function raises.
---@param fn fun()
---@param part? string of the message
---@return string message
function test.raises(fn, part) end

--- Fails the case.
---@param message string
function test.fail(message) end

--- The time of a case.
---@class pi.TestClock
local TestClock = {}

--- Begins the program if nothing has, and sets the clock forward. What is due by then happens in
--- its order, each at its time, before this returns. Runs that a timer causes are settled at the
--- end; to have each settled before the next timer goes off, advance step by step.
---@param ms number
function TestClock.advance(ms) end

--- The time in milliseconds.
---@return number
function TestClock.now() end

--- An answer of the model: text, calls, or a failure. Arguments have the names that hooks see.
---@class pi.TestStep
---@field text? string
---@field thinking? string
---@field tool? string one call
---@field input? table|string its arguments
---@field id? string of the call
---@field calls? pi.TestStepCall[] several
---@field error? string the request fails with this
---@field status? number of HTTP, with `error`; 408, 429 and from 500 on are tried again
---@field overflow? boolean the error says that the context is too large
---@field stop? string why the answer ends, such as `length`
---@field input_tokens? number else by the length of the texts
---@field output_tokens? number likewise

--- A tool call of an answer.
---@class pi.TestStepCall
---@field tool string
---@field input? table|string
---@field id? string

--- An MCP server that is played.
---@class pi.TestServer
---@field name string as in mcp.json
---@field tools table<string, pi.TestServerRun|pi.TestServerTool> what it has, by the names of tools: what a call gives, or a table that says more of the tool
---@field description? string what the model is told of the server
---@field exposure? "search"|"direct"|"off" how its tools are offered; unless said `search`
---@field trust_annotations? boolean what its tools claim of themselves is believed
---@field configured? boolean false: it is no server of the session from the start, but one that a hook adds or connects to by this name
---@field elicit? table<string, string|pi.TestQuestion|(string|pi.TestQuestion)[]> what it asks the user within a call, by the name of the tool, before that gives its result; `t.answers` answers as any dialog, and without it nobody does
---@field dies_after? integer how many calls it answers each time it was started: the next one ends it without an answer, and the one behind that starts it again; unless said it does not die

--- What a call of a tool of a played server gives: a result, or a function that makes it. The
--- function is given the arguments as they passed the gates; nil and a message is a result that
--- says that the tool failed, and an error fails the case.
---@alias pi.TestServerRun string|pi.TestServerResult|fun(args: table, call: pi.TestServerCall): (string|pi.TestServerResult|nil, string?)

--- A tool of a played server, with what the server says of it.
---@class pi.TestServerTool
---@field title? string
---@field description? string
---@field parameters? table JSON Schema of an object, as a table or made with `pi.schema`; none: any arguments
---@field annotations? pi.TestServerAnnotations what the server claims of it
---@field exposure? "search"|"direct"|"off" unless said that of the server
---@field run? pi.TestServerRun none: an empty result

--- What a played server claims of a tool. What it does not say counts as the worst.
---@class pi.TestServerAnnotations
---@field read_only? boolean
---@field destructive? boolean
---@field open_world? boolean

--- A result of a tool of a played server; a text alone is one, too.
---@class pi.TestServerResult
---@field content? string|pi.Block[] texts and images
---@field structured? table its `structuredContent`
---@field is_error? boolean the tool failed

--- What a played server asks the user. A text alone is one that is answered with yes or no.
---@class pi.TestQuestion
---@field message string
---@field schema? table JSON Schema of an object whose fields are asked for, as a table or made with `pi.schema`; texts, numbers, booleans and choices
---@field url? string a page that the user is to open, in place of `schema`

--- A call that reached a played server.
---@class pi.TestServerCall
---@field server string
---@field tool string its name at the server
---@field input? table its arguments, in what `t.mcp_calls` returns
---@field answers pi.TestServerAnswer[] to the questions of `elicit`, in their order

--- What became of a question of a played server.
---@class pi.TestServerAnswer
---@field action "accept"|"decline"|"cancel"
---@field values? table the fields by their names, if there were any and they were given

--- Agents that are played.
---@class pi.TestAgent
---@field name? string that they have: the option `name` of `agent.run`, or else `agent`, or else `agent` itself
---@field answers pi.TestAgentAnswers

--- A text is one that completed with it. A function is given what the agent was asked, and returns a text or a table; nil and a message
--- is an agent that failed, and an error fails the case.
---@alias pi.TestAgentAnswers (string|pi.TestAgentAnswer|fun(asked: pi.TestAgentCall): (string|pi.TestAgentAnswer|nil, string?))[]

--- What comes of a played agent: the fields of a result, or how it does otherwise.
---@class pi.TestAgentAnswer
---@field text? string
---@field value? any
---@field usage? pi.Usage
---@field stop_reason? "completed"|"aborted"|"error"|"limit"|"timeout" `completed` unless said; with `error` that
---@field error? string
---@field session_file? string
---@field refuse? string it does not start, and this is why
---@field waits? boolean it works until it is ended, or `t.clock` has passed its `timeout`

--- What a hook has asked an agent, as it stands in its options.
---@class pi.TestAgentCall
---@field hook string that has asked
---@field name string that the agent has
---@field played boolean
---@field prompt string
---@field agent? string
---@field system_prompt? string
---@field model? string
---@field thinking? string
---@field tools? string[]
---@field cwd? string absolute
---@field schema? table
---@field context? "parent"
---@field session? "keep"
---@field max_turns? integer
---@field max_cost? number
---@field timeout? number
---@field steers string[] what a hook has given it since (`h.steer`); those that work as always are not followed

--- A request as the model saw it.
---@class pi.TestRequest
---@field model string provider/id
---@field system string
---@field messages pi.Message[]
---@field tools string[] their names
---@field thinking string
---@field payload table the body as it was sent, behind the handlers of `before_provider_request`; that of the scripted model is a chat completion
---@field headers table<string, string> likewise, behind those of `before_provider_headers`, with what a login of a hook lets in with
---@field url string where it was sent

--- Answers by dialog: one for all dialogs of its kind, a list of them one after the other, or a
--- function(title, options).
---@class pi.TestAnswers
---@field confirm? boolean|"always"|table|fun(title: string, message: string): boolean|"always"
---@field select? string|table|fun(title: string, choices: string[]): string|string[]|nil the text of a choice; with `multi` a list of them
---@field input? string|table|fun(title: string, placeholder: string): string?
---@field editor? string|table|fun(title: string, prefill: string): string?
---@field continuations? boolean|string|table|fun(title: string, choices: string[]): boolean|string whether a hook may go on, which the program asks itself: `true` or `"more"`, `false` or `"stop"`, and at a limit `"until_interrupted"`
---@field custom? fun(view: pi.TestView) plays with each component that a hook shows; what it leaves open gets Esc

--- A component of a hook.
---@class pi.TestView
---@field hook string
---@field lines fun(width?: number, height?: number): string[] as it looks now, in 80 cells by 24 rows unless you say otherwise
---@field key fun(...: string): boolean presses keys by their names, modifiers in any order; true if the last one was used
---@field type fun(text: string) types a text
---@field paste fun(text: string): boolean pastes a text, in one piece as a terminal does; true if it was used
---@field close fun() takes it away
---@field closed fun(): boolean

--- A drawing of a call.
---@class pi.TestDrawing
---@field tool string
---@field id string of the call
---@field partial boolean the call ran then; false: it was over, and this drawing stays
---@field text string of what the tool had reported, or of its result
---@field call? string[] the call as a hook draws it; nil: none does
---@field lines? string[] the result as a hook draws it; nil: none does

--- What goes along with a prompt.
---@class pi.TestAttachment
---@field path? string
---@field text? string
---@field name? string of the text

--- What a tool returned.
---@class pi.TestResult
---@field text string
---@field content pi.Block[]
---@field details any
---@field is_error boolean

--- How a command of the user ended.
---@class pi.TestShell
---@field output string
---@field exit_code? number

--- A line for the user.
---@class pi.TestNotice
---@field level string
---@field text string

--- A notice on the desktop.
---@class pi.TestDesktopNotice
---@field title string
---@field body string empty, if there was none

--- A call of a tool.
---@class pi.TestCall
---@field name string
---@field agent? string that has made it; nil in the session of the user
---@field input table
---@field ran boolean
---@field is_error boolean
---@field text string of its result

return test
