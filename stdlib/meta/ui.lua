---@meta _

--- The user. Where nobody can be asked (`ctx.has_ui` is false), each question answers at once
--- what its line says.
---@class pi.UI
---@field theme pi.Theme colours for this terminal
local ui = {}

--- Options of dialogs.
---@class pi.DialogOptions
---@field timeout? integer ms, shown as a countdown; then the answer is what it would be without a user
---@field signal? pi.Signal ends the dialog when its handler is stopped, as if the user had left it

--- Options of `ctx.ui.select`.
---@class pi.SelectOptions: pi.DialogOptions
---@field multi? boolean any number may be chosen
---@field default? any the value that is in view at first; with `multi` the list of those that are marked

--- Options of `ctx.ui.confirm`.
---@class pi.ConfirmOptions: pi.DialogOptions
---@field always? string the user may also answer "always in this session", where the front end offers that; then this hook's questions with the same key are answered with yes, and not asked, until the session is closed

--- What can be chosen.
---@class pi.Choice
---@field value any what `ctx.ui.select` returns
---@field label? string what is shown; the value, if that is a text or a number
---@field description? string shown behind the label

--- Lets the user choose one of several lines, by typing a part of it too, and returns the line, or the value of what was chosen; with `multi` a list of them, which may be empty. nil when the user left it, and without a user.
---@param title string
---@param options (string|pi.Choice)[]
---@param opts? pi.SelectOptions
---@return any
function ui.select(title, options, opts) end

--- Asks yes or no. No is what counts without an answer, and without a user.
---@param title string
---@param message? string
---@param opts? pi.ConfirmOptions
---@return boolean
function ui.confirm(title, message, opts) end

--- Asks for a line of text; nil when the user gave none, and without a user.
---@param title string
---@param placeholder? string an example, shown while nothing is typed
---@param opts? pi.DialogOptions
---@return string?
function ui.input(title, placeholder, opts) end

--- Opens `$VISUAL` or `$EDITOR`; nil when nothing was saved or the editor failed, and without a user. The line break that editors add at the end is taken off.
---@param title string
---@param prefill? string what stands there at first
---@return string?
function ui.editor(title, prefill) end

--- Tells the user something; in print mode on standard error.
---@param text string
---@param level? "info"|"warning"|"error" `info` unless said
function ui.notify(text, level) end

--- Puts a word into the status line, under a key of yours; nil takes it away. Keys are sorted; escapes are removed and line breaks become spaces.
---@param key string
---@param text? string
function ui.set_status(key, text) end

--- Options of `ctx.ui.set_widget`.
---@class pi.WidgetOptions
---@field place? "above"|"below" where it stands, seen from the line being typed: `above` unless said

--- Draws lines for the width that there is. It is called when they come into view, when the width changes, when the status line does (its branch, the cost, a status of a hook), and when `surface.request_render` asks; ten times a second at most. It has 50 ms: what it drew before stays where it needs longer, and after three such drawings in a row it is taken away with an error, as at once where it raises. It cannot open dialogs. Work that takes time belongs into handlers, which keep what is to be drawn in a local. Where there is no terminal, as over RPC and ACP, and with `--plain`, it is never called.
---@alias pi.Draw fun(width: integer, surface: pi.DrawSurface, data: pi.DrawData): string|string[]

--- Where a function that draws for the width is shown.
---@class pi.DrawSurface
local draw_surface = {}

--- Has it drawn anew. Many calls at once draw once.
function draw_surface.request_render() end

--- What else is there, for a function that draws for the width.
---@class pi.DrawData
---@field branch? string of git
---@field statuses table<string, string> what hooks have set with `set_status`, by key
---@field providers integer how many providers have a key, or need none

--- Shows lines beside the line being typed, under a key of yours, or what a function draws for the width; nil takes them away. As many are shown as there is room for (all around the line has half of the window, and what a tool shows while it runs comes first), 10 of those that a function draws, and of what controls a terminal only the colours of the theme stay. They stand there while the agent works, too, until the hook ends.
---@param key string
---@param lines? string[]|pi.Draw at most 200
---@param opts? pi.WidgetOptions
function ui.set_widget(key, lines, opts) end

--- Shows lines at the top of what is below the transcript, or what a function draws for the width, 8 rows at most; nil takes them away. Those of several hooks are shown together.
---@param lines? string[]|pi.Draw
function ui.set_header(lines) end

--- Options of `ctx.ui.set_footer`.
---@class pi.FooterOptions
---@field status? boolean false: the footer stands in the place of the status line, which goes. What a user must know keeps a row of its own: the mode that is on, whose gates are shut, and what waits for approval

--- Shows lines at the bottom, below the status line, or what a function draws for the width, 8 rows at most; nil takes them away.
---@param lines? string[]|pi.Draw
---@param opts? pi.FooterOptions
function ui.set_footer(lines, opts) end

--- Copies a text to the user's clipboard: by the terminal, which has that of the machine that the user sits at, or by a program. A row says which hook has copied how much. Nothing is ever read from a clipboard. There is none over RPC and ACP, and in print mode.
---@param text string at most 1 MiB
---@return boolean? ok
---@return string? message why nothing was copied
function ui.copy(text) end

--- Tells a user something who looks at another window, in the way of `[ui] notify`: with a bell, or a notice on the desktop. Nobody is told where that is `off`, where the terminal says that its window is in front, and within 5 seconds of another notice of a hook. There is no desktop over RPC and ACP, and in print mode.
---@param title string
---@param body? string
---@return boolean? ok
---@return string? message why nobody was told
function ui.notify_desktop(title, body) end

--- A step of a plan.
---@class pi.PlanStep
---@field content string
---@field status? "pending"|"in_progress"|"completed" `pending` unless said
---@field priority? "high"|"medium"|"low" for editors

--- Shows a plan: in the terminal what is open of it, above the line being typed; an editor shows it in its own way. Each call replaces the plan before; an empty list takes it away. Where several hooks have one, the newest is shown.
---@param steps? pi.PlanStep[] at most 200
function ui.set_plan(steps) end

--- Names the terminal window; nil puts the usual name back.
---@param text? string
function ui.set_title(text) end

--- Says what is shown while the agent works; nil is the usual text. With false nothing is shown then, but for what the user must know: that an answer, a hook or another attempt is waited for.
---@param text? string|false
function ui.set_working_message(text) end

--- What turns while the agent works.
---@class pi.Indicator
---@field frames string[] 1 to 60 short texts, shown one after the other
---@field ms? integer how long each is shown: 250 unless said; at least 80

--- Says what turns while the agent works; nil is the usual sign.
---@param indicator? pi.Indicator
function ui.set_working_indicator(indicator) end

--- Puts text on the prompt line, or on the next one.
---@param text string
function ui.set_editor_text(text) end

--- What stands on the prompt line; empty without a user.
---@return string
function ui.get_editor_text() end

--- The keys that each action has now, by the names that `[keys]` in `config.toml` has for them: `keys().interrupt[1]` is the key to tell people. An action without a key has an empty list.
---@return table<string, string[]>
function ui.keys() end

--- Whether the front end can do more than ask and tell: show a component (`custom`), draw by width (`draw`), copy to the clipboard (`copy`), or lend its terminal to a program (`run`). Only a terminal can; it is false over RPC and ACP, in print and JSON mode, and in a replay. One of lines (`--plain`, `TERM=dumb`) does not draw: it writes a component anew each time, and gives it the keys of a line at its end; ask with `ctx.ui.input` and `ctx.ui.select` there.
---@param what "custom"|"draw"|"copy"|"run"
---@return boolean
function ui.can(what) end

--- Draws something of yours until it is closed, and gives it the keys. Esc closes it unless `handle_input` returns true for it, and Ctrl+C always does. Returns its surface, or with `wait` what `surface.close` got; nil when the user closed it, without a user, and where nothing can be drawn (see `ctx.ui.can`), which the log says.
---@param component pi.Component
---@return any
function ui.custom(component) end

--- Something that draws itself.
---@class pi.Component
---@field render fun(width: integer, surface: pi.Surface, height: integer): string|string[] the lines, no wider than `width`; no more than `height` are shown
---@field handle_input? fun(key: string, surface: pi.Surface, opts: pi.KeyOptions): boolean? a key was pressed: `a`, `A`, `space`, `enter`, `esc`, `up`, `pagedown`, `f5`, with `ctrl+`, `alt+`, `shift+` in this order, or `paste`. false leaves the key to the line being typed. It cannot open a dialog: close with a value, ask, and open it again
---@field wait? boolean `ctx.ui.custom` returns only when it is closed
---@field place? "below"|"over" `below` the transcript, above the line being typed, unless said; `over` in the place of the line being typed and of what is below it, with as many rows as it draws: `height` of them fill the window
---@field rows? integer how many it gets if there is room; as many as it draws unless said
---@field cursor? boolean the cursor stands where `surface.cursor` is in the lines
---@field releases? boolean `handle_input` is called for keys that are released, too, where the terminal tells

--- More of a key.
---@class pi.KeyOptions
---@field text? string what it types; of `paste` all of it
---@field release? boolean it was released, not pressed

--- Where a component is shown.
---@class pi.Surface
---@field cursor string put it into a line where the cursor is to stand; it takes no room
local surface = {}

--- Ends it. With `wait` the value is what `ctx.ui.custom` returns.
---@param value? any
function surface.close(value) end

--- Draws it anew, as is done after each key too. Many calls at once draw once.
function surface.request_render() end

--- Makes a text that is edited as the line being typed is, in one row or in several: a component for `ctx.ui.custom`, or a part of one. In several rows Ctrl+J and Shift+Enter break a line.
---@param opts? pi.FieldOptions
---@return pi.Field
function ui.field(opts) end

--- Options of `ctx.ui.field`.
---@class pi.FieldOptions
---@field text? string what stands there at first, at most 1 MiB
---@field rows? integer how many rows it has at most: 1 unless said. It has as many as its text takes, and scrolls inside of them
---@field prompt? string stands before the text, where there is room for it
---@field placeholder? string shown while there is no text
---@field on_change? fun(text: string, surface: pi.Surface) a key has changed the text
---@field on_submit? fun(text: string, surface: pi.Surface) Enter was pressed; without it Enter closes the component with the text

--- A text that is edited. As a component it can have `wait`, `place` and `rows`, too. It has room for 1 MiB: what is typed or pasted beyond that leaves it as it is, and the user is told.
---@class pi.Field: pi.Component
---@field render fun(width: integer): string[] the rows, one of them with the cursor; a field of one row has one
---@field handle_input fun(key: string, surface: pi.Surface, opts?: pi.KeyOptions): boolean false for a key that a text has no use for
local field = {}

--- The text as it is now.
---@return string
function field.text() end

--- Replaces the text.
---@param text string
---@return boolean? ok
---@return string? message the text is larger than 1 MiB
function field.set_text(text) end

--- Makes a list in which the user chooses as in `ctx.ui.select`, with arrows, page keys and what is typed: a component for `ctx.ui.custom`, or a part of one.
---@param opts pi.ListOptions
---@return pi.List
function ui.list(opts) end

--- Options of `ctx.ui.list`.
---@class pi.ListOptions
---@field items (string|pi.Choice)[] at most 10,000; a tab in a label parts columns
---@field rows? integer how many items are in view at once: 10 unless said
---@field filter? boolean what is typed leaves those items that have all of its words, in a row above them; else keys that type are yours
---@field selected? any the value that is selected at first
---@field on_select? fun(value: any, surface: pi.Surface) Enter was pressed; without it Enter closes the component with the value
---@field on_change? fun(value: any, surface: pi.Surface) a key has selected another item; nil when no item is left
---@field on_cancel? fun(surface: pi.Surface) Esc was pressed; without it Esc has its usual meaning, which closes the component

--- A list. As a component it can have `wait`, `place` and `rows`, too. Tab is left to you, for the next part.
---@class pi.List: pi.Component
---@field render fun(width: integer, surface?: pi.Surface, height?: integer): string[] the items around the selected one, with `filter` below what is typed
---@field handle_input fun(key: string, surface: pi.Surface, opts?: pi.KeyOptions): boolean false for a key that the list has no use for
local list = {}

--- The value that is selected, or nil.
---@return any
function list.selected() end

--- Selects a value, unless it is filtered away.
---@param value any
function list.select(value) end

--- What is typed to filter.
---@return string
function list.text() end

--- Replaces the items. What is typed stays, and so does the value that is selected.
---@param items (string|pi.Choice)[]
function list.set_items(items) end

--- Gives the terminal to a program, without a shell, and waits for its end. Nothing else is shown meanwhile: what the agent says waits. The hook's time does not run.
---@param cmd string
---@param args? string[]
---@param opts? pi.RunOptions
---@return pi.RunResult? result
---@return string? message `no terminal`, or why the program could not be started
function ui.run(cmd, args, opts) end

--- Options of `ctx.ui.run`.
---@class pi.RunOptions
---@field cwd? string where it runs; a relative path begins at the working directory
---@field env? table<string, string> added to the environment

--- How a program ended.
---@class pi.RunResult
---@field code integer exit status; -1 when a signal ended it
---@field signal? string the signal that ended it, such as `TERM`

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

--- Text on a background of the theme, on which it can be read.
---@param name pi.Color
---@param text string
---@return string
function theme.bg(name, text) end

--- Text in a colour by its parts, each 0 to 255, or in the nearest that the terminal has. A colour that can hardly be told from the background is left out.
---@param red number
---@param green number
---@param blue number
---@param text string
---@return string
function theme.rgb(red, green, blue, text) end

--- Text on a background of a colour by its parts, 0 to 255, or of the nearest that the terminal has.
---@param red number
---@param green number
---@param blue number
---@param text string
---@return string
function theme.on_rgb(red, green, blue, text) end

--- Names the colours that there are, for `fg` and `bg`.
---@return string[]
function theme.names() end

--- Draws Markdown as the program draws an answer: the rows, no wider than `width` but for lines of code.
---@param text string at most 1 MiB
---@param width number 1 to 1000
---@return string[]? rows
---@return string? message the text is too large
function theme.markdown(text, width) end

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
