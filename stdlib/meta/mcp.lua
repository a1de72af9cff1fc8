---@meta pi.mcp

--- MCP servers: those of the session, and others that a hook brings. Every call of a tool passes the same gates as one of
--- the model, as `mcp__SERVER__TOOL` with `event.mcp.via` as `"hook"`; what `--tools` and a mode leave out, and tools that are
--- `off`, cannot be called from here either. What a hook has brought ends with it, or with the version of it.
---@class pi.mcp
local mcp = {}

--- How tools are offered to the model.
---@alias pi.McpExposure "search"|"direct"|"off"

--- An MCP server, as it stands in `mcp.json`: it has a command or a url. `${NAME}` is filled in there too.
---@class pi.McpEntry
---@field command? string one program, no shell; with a slash it begins at the directory of the session
---@field args? string[] its arguments
---@field env? table<string, string> variables beside the usual ones; it gets no key of a provider by itself
---@field cwd? string where it runs
---@field url? string of a server that speaks HTTP
---@field headers? table<string, string> sent with each request to it
---@field type? "stdio"|"http"|"streamable-http"
---@field description? string what the model is told of it
---@field exposure? pi.McpExposure of all its tools; `search` unless said
---@field tools? table<string, pi.McpExposure> of those that a pattern fits
---@field timeout? number seconds, as in `mcp.json`, that a call may take without progress: 60 unless said
---@field max_timeout? number seconds that a call may take in all: 1800 unless said
---@field protocol? string the version to begin with
---@field enabled? boolean `false`: it is listed, and not used
---@field oauth? pi.McpOAuth how somebody signs in

--- How somebody signs in to a server at which a program has to be registered by hand.
---@class pi.McpOAuth
---@field client_id? string
---@field client_secret? string
---@field client_metadata_url? string
---@field scopes? string[]
---@field port? integer of the address that the answer comes to

--- What `mcp.connect` is told.
---@class pi.McpConnection: pi.McpEntry
---@field name string what gates see; letters, digits, `-` and `_`, but no `__`

--- What is known of a server without starting it.
---@class pi.McpStatus
---@field name string
---@field state "idle"|"starting"|"ready"|"failed"|"sign-in"|"off"
---@field source "user"|"project"|"client"|"hook" who has configured it
---@field path? string in which file, or which hook
---@field description? string
---@field private boolean a hook alone uses it (`mcp.connect`)
---@field known boolean it was listed once, so the numbers below say something
---@field tools integer
---@field resources integer
---@field prompts integer
---@field direct integer tools that the model has directly
---@field version? string of the protocol that it spoke last
---@field error? string why it cannot be used, or what ended it

--- The servers of the session, and those that hooks have for themselves.
---@return pi.McpStatus[] servers
function mcp.servers() end

--- A server that this hook alone uses: the model does not find it. It is started by its first use. With a `name` and nothing
--- else it is one of the session's.
---@param server pi.McpConnection
---@return pi.McpServer? server
---@return string? message there is one of that name already, there is none, or MCP is turned off
function mcp.connect(server) end

--- Makes a server one of the session's: the model finds its tools. It ends with the hook, or with `close`.
---@param name string
---@param entry pi.McpEntry
---@return pi.McpServer? server
---@return string? message there is one of that name already, or MCP is turned off
function mcp.add(name, entry) end

--- A server that a hook uses.
---@class pi.McpServer
---@field name string
local server = {}

--- A tool of a server.
---@class pi.McpTool
---@field name string
---@field tool_name string as gates see it: `mcp__SERVER__TOOL`
---@field title? string
---@field description string
---@field parameters table a JSON Schema
---@field annotations pi.Annotations what the server claims that it does
---@field exposure pi.McpExposure
---@field definition string a hash of what the server says of it

--- Its tools, without those that are `off`. It is started if it was never listed.
---@return pi.McpTool[]? tools
---@return string? message it cannot be started
function server.tools() end

--- Options of `server.call`.
---@class pi.McpCallOptions
---@field timeout? number milliseconds without progress, in the place of the server's
---@field on_progress? fun(progress: pi.McpProgress): boolean? is told how far it has come, of fast messages the newest; true gives the call up
---@field signal? pi.Signal gives it up, such as `ctx.signal`

--- How far a call has come.
---@class pi.McpProgress
---@field progress number
---@field total? number
---@field message? string

--- What came of a call.
---@class pi.McpResult
---@field content pi.Block[] as the model would get it: what is too long for that is in a file that is named
---@field structured? any what the server sent as data
---@field is_error boolean it failed, or a gate has blocked it; the content says why

--- Calls a tool, and waits for what comes of it.
---@param tool string its name at the server
---@param arguments? table
---@param opts? pi.McpCallOptions
---@return pi.McpResult? result
---@return string? message there is no such tool, it may not be called here, or the server cannot be started
function server.call(tool, arguments, opts) end

--- A resource of a server.
---@class pi.McpResource
---@field uri string
---@field name string
---@field title? string
---@field description? string
---@field mime_type? string
---@field template boolean the uri has parts in braces, to be filled in

--- Its resources. It is started if it was never listed.
---@return pi.McpResource[]? resources
---@return string? message it cannot be started
function server.resources() end

--- Reads a resource. Gates are asked as when the model does: it is a call of the tool `mcp` with `read` and `server`.
---@param uri string
---@return pi.McpResult? result
---@return string? message it may not be read here
function server.read(uri) end

--- A text for the model that a server has.
---@class pi.McpPrompt
---@field name string
---@field title? string
---@field description? string
---@field arguments { name: string, description?: string, required: boolean }[]

--- Its prompts. It is started if it was never listed.
---@return pi.McpPrompt[]? prompts
---@return string? message it cannot be started
function server.prompts() end

--- The messages of a prompt.
---@param name string
---@param arguments? table<string, string>
---@return { role: "user"|"assistant", content: pi.Block[] }[]? messages
---@return string? message there is no such prompt, or it wants other arguments
function server.prompt(name, arguments) end

--- Ends what this hook has brought; of a server of the session it only ends the use. Afterwards its functions fail.
---@return true
function server.close() end

return mcp
