---@meta _

--- The person. Where nobody can be asked (`ctx.has_ui` is false), each question answers at once
--- what its line says.
---@class pi.UI
---@field theme pi.Theme colours for this terminal
local ui = {}

--- Options of dialogs.
---@class pi.DialogOptions
---@field timeout? integer ms, shown as a countdown; then the answer is what it would be without a person

--- Lets the person choose one of several lines; nil when nothing was chosen, and without a person.
---@param title string
---@param options string[]
---@param opts? pi.DialogOptions
---@return string?
function ui.select(title, options, opts) end

--- Asks yes or no. No is what counts without an answer, and without a person.
---@param title string
---@param message? string
---@param opts? pi.DialogOptions
---@return boolean
function ui.confirm(title, message, opts) end

--- Asks for a line of text; nil when the person gave none, and without a person.
---@param title string
---@param placeholder? string an example, shown while nothing is typed
---@param opts? pi.DialogOptions
---@return string?
function ui.input(title, placeholder, opts) end

--- Opens `$VISUAL` or `$EDITOR`; nil when nothing was saved or the editor failed, and without a person. The line break that editors add at the end is taken off.
---@param title string
---@param prefill? string what stands there at first
---@return string?
function ui.editor(title, prefill) end

--- Tells the person something; in print mode on standard error.
---@param text string
---@param level? "info"|"warning"|"error" `info` unless said
function ui.notify(text, level) end

--- Puts a word into the status line, under a key of yours; nil takes it away. Keys are sorted; escapes are removed and line breaks become spaces.
---@param key string
---@param text? string
function ui.set_status(key, text) end

--- Shows at most 20 lines above the prompt, under a key of yours; nil takes them away. Of what controls a terminal only the colours of the theme stay.
---@param key string
---@param lines? string[]
function ui.set_widget(key, lines) end

--- Names the terminal window.
---@param text string
function ui.set_title(text) end

--- Says what is shown while the agent works; nil is the usual text.
---@param text? string
function ui.set_working_message(text) end

--- Puts text on the prompt line, or on the next one.
---@param text string
function ui.set_editor_text(text) end

--- What stands on the prompt line; empty without a person.
---@return string
function ui.get_editor_text() end

--- Draws something of yours below the transcript until it is closed; nil without a person. There is no prompt meanwhile, and Ctrl+C always closes it.
---@param component pi.Component
---@return pi.Surface?
function ui.custom(component) end

--- Something that draws itself.
---@class pi.Component
---@field render fun(width: integer, surface: pi.Surface): string|string[] the lines, no wider than `width`
---@field handle_input? fun(key: string, surface: pi.Surface) a key was pressed: `a`, `space`, `enter`, `esc`, `up`, `pagedown`, `f5`, with `ctrl+`, `alt+`, `shift+` in this order
---@field wait? boolean `ctx.ui.custom` returns only when it is closed

--- Where a component is shown.
---@class pi.Surface
local surface = {}

--- Ends it.
function surface.close() end

--- Draws it anew.
function surface.request_render() end

--- Paints text for the terminal at hand; where there are no colours, and under `NO_COLOR`, it returns the text as it is.
---@class pi.Theme
local theme = {}

--- The colours of a theme.
---@alias pi.Color
---| "accent"
---| "success"
---| "warning"
---| "error"
---| "muted"
---| "dim"
---| "border"
---| "tool_title"
---| "tool_output"
---| "thinking"
---| "user"
---| "code"
---| "link"

--- Text in a colour of the theme.
---@param name pi.Color
---@param text string
---@return string
function theme.fg(name, text) end

--- Bold text.
---@param text string
---@return string
function theme.bold(text) end

--- Text in italics.
---@param text string
---@return string
function theme.italic(text) end

--- Underlined text.
---@param text string
---@return string
function theme.underline(text) end

--- Text that is struck through.
---@param text string
---@return string
function theme.strikethrough(text) end

--- Text with its colour and that of the background exchanged.
---@param text string
---@return string
function theme.inverse(text) end
