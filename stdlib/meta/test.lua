---@meta pi.test

--- What the files have that `pi test` runs; hooks themselves cannot require it. A case has a
--- home directory, a project and a session of its own, a model that answers from a script, and
--- nobody to ask. A check that fails ends the case. What does something, as `prompt`, returns
--- when nothing is left to do: messages that hooks sent are answered, their handlers have ended.
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
function test.file(path, text) end

--- Reads a file of the project.
---@param path string
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

--- Makes a person be there, who answers dialogs: by the name of the dialog, or by a function
--- for all. A question for which there is nothing fails the case; nil and false from a
--- function leave the dialog.
---@param answers pi.TestAnswers|fun(kind: string, title: string, options: string|string[]): boolean|string|string[]|nil
function test.answers(answers) end

--- Types a prompt.
---@param text string
---@param attachments? (string|pi.TestAttachment)[] paths in the project, or tables
---@return string? answer the last one of the model; nil if the run failed
---@return string? err
function test.prompt(text, attachments) end

--- Types a command.
---@param line string such as `/name arguments`
---@return string? shown what a person would have read meanwhile
---@return string? err
function test.command(line) end

--- Calls a tool without a model. The call passes the gates.
---@param name string
---@param input? table
---@return pi.TestResult
function test.tool(name, input) end

--- Runs a command of the person, as `!` does.
---@param line string
---@return pi.TestShell? outcome
---@return string? err
function test.shell(line) end

--- Presses a key that a hook took with `pi.shortcut`.
---@param name string
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

--- Saves another text of a hook, or of a file beside one, and returns when it is live.
---@param path string as in `t.hook`
---@param text string
---@return boolean? ok nil: it does not load, and the version before runs on
---@return string? err
function test.edit_hook(path, text) end

--- Ends the program and begins it again with the same session.
---@return string shown what a person would have read meanwhile
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

--- The calls of tools so far.
---@param name? string of the tool
---@return pi.TestCall[]
function test.calls(name) end

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

--- Checks that a person would have read a text: in a notice, a dialog, the status line, a
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

--- Sets the clock forward. What is due by then happens in its order, each at its time, before
--- this returns.
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

--- A request as the model saw it.
---@class pi.TestRequest
---@field model string provider/id
---@field system string
---@field messages pi.Message[]
---@field tools string[] their names
---@field thinking string
---@field payload table the body as it was sent, behind the handlers of `before_provider_request`; that of the scripted model is a chat completion
---@field headers table<string, string> likewise, behind those of `before_provider_headers`

--- Answers by dialog: one for all dialogs of its kind, a list of them one after the other, or a
--- function(title, options).
---@class pi.TestAnswers
---@field confirm? boolean|"always"|table|fun(title: string, message: string): boolean|"always"
---@field select? string|table|fun(title: string, choices: string[]): string|string[]|nil the text of a choice; with `multi` a list of them
---@field input? string|table|fun(title: string, placeholder: string): string?
---@field editor? string|table|fun(title: string, prefill: string): string?
---@field custom? fun(view: pi.TestView) plays with each component that a hook shows; what it leaves open gets Esc

--- A component of a hook.
---@class pi.TestView
---@field hook string
---@field lines fun(width?: number, height?: number): string[] as it looks now, in 80 cells by 24 rows unless you say otherwise
---@field key fun(...: string): boolean presses keys by their names; true if the last one was used
---@field type fun(text: string) types a text
---@field close fun() takes it away
---@field closed fun(): boolean

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

--- How a command of the person ended.
---@class pi.TestShell
---@field output string
---@field exit_code? number

--- A line for the person.
---@class pi.TestNotice
---@field level string
---@field text string

--- A call of a tool.
---@class pi.TestCall
---@field name string
---@field input table
---@field ran boolean
---@field is_error boolean
---@field text string of its result

return test
