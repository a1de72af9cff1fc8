---@meta pi.http

--- Requests, and a server for programs on this machine.
---@class pi.http
local http = {}

--- Options of `http.get` and `http.post`.
---@class pi.HttpCallOptions
---@field headers? table<string, string>
---@field body? string
---@field json? any sent as JSON, in the place of `body`
---@field timeout? integer ms for everything; 5 minutes unless said
---@field max_bytes? integer of the answer; 16 MiB unless said, 64 MiB at most
---@field redirect? boolean false: a redirection is given as it is

--- Options of `http.request`.
---@class pi.HttpOptions: pi.HttpCallOptions
---@field url string
---@field method? string `GET` unless said, or `POST` with a body

--- An answer, whatever its status.
---@class pi.HttpResponse
---@field status integer
---@field headers table<string, string> names in small letters
---@field body string

--- Makes a request.
---@param opts pi.HttpOptions
---@return pi.HttpResponse? response
---@return string? message there was no answer, or it was too large
function http.request(opts) end

--- Makes a GET request.
---@param url string
---@param opts? pi.HttpCallOptions
---@return pi.HttpResponse? response
---@return string? message there was no answer, or it was too large
function http.get(url, opts) end

--- Makes a POST request.
---@param url string
---@param opts? pi.HttpCallOptions
---@return pi.HttpResponse? response
---@return string? message there was no answer, or it was too large
function http.post(url, opts) end

--- A text as part of an address, with everything but letters, digits and `-_.~` as `%XX`. A table becomes a query, sorted by name: `{ q = "a b", tag = { "x", "y" } }` is `q=a%20b&tag=x&tag=y`.
---@param text string|table<string, string|number|boolean|string[]>
---@return string
function http.encode(text) end

--- Options of `http.listen`.
---@class pi.ListenOptions
---@field port? integer any free one unless said
---@field path? string the only path that there is, such as `/hook`; every path unless said
---@field token? string is wanted as `Authorization: Bearer …`; without it every program of this machine may call
---@field max_body? integer of a request; 1 MiB unless said
---@field host? "127.0.0.1"|"localhost" nothing else is listened on

--- What a program asks.
---@class pi.HttpRequest
---@field method string
---@field path string
---@field query table<string, string>
---@field headers table<string, string> names in small letters
---@field body string

--- What it is answered.
---@class pi.HttpAnswer
---@field status? integer 200 unless said
---@field headers? table<string, string>
---@field body? string
---@field json? any sent as JSON, in the place of `body`

--- What `http.listen` returns.
---@class pi.Server
---@field port integer
---@field url string
local server = {}

--- Ends it. It ends with the hook by itself.
function server.close() end

--- Serves programs on this machine. `fn` returns a text, a table, or nil for an empty answer. Pages of other sites in a browser are refused.
---@param opts pi.ListenOptions
---@param fn fun(request: pi.HttpRequest): string|pi.HttpAnswer?
---@return pi.Server? server
---@return string? message the port is taken
function http.listen(opts, fn) end

return http
