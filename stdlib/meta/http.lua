---@meta pi.http

--- Requests, and a server for programs on this machine.
---@class pi.http
local http = {}

--- Options of `http.get` and `http.post`.
---@class pi.HttpCallOptions
---@field headers? table<string, string> a redirection to another scheme, host or port takes only harmless ones along: `Accept`, `Accept-Charset`, `Accept-Encoding`, `Accept-Language`, `Cache-Control`, `Content-Encoding`, `Content-Language`, `Content-Type`, `Range` and `User-Agent`
---@field body? string
---@field json? any sent as JSON, in the place of `body`
---@field timeout? integer ms for everything; 5 minutes unless said
---@field max_bytes? integer of the answer; 16 MiB unless said, 64 MiB at most
---@field redirect? boolean false: a redirection is given as it is
---@field public? boolean true: only to public addresses, and not through a proxy. Where a name leads is looked at when the connection is made, at each redirection anew; this machine, the networks around it and what a cloud tells of its machines are refused. For addresses that a page or a model names
---@field signal? pi.Signal ends it, such as `ctx.signal`: nil and a message

--- Options of `http.request`.
---@class pi.HttpOptions: pi.HttpCallOptions
---@field url string
---@field method? string `GET` unless said, or `POST` with a body

--- An answer, whatever its status.
---@class pi.HttpResponse
---@field status integer
---@field headers table<string, string> names in small letters
---@field body string
---@field url string the address that answered, behind all redirections: where relative links of a page begin

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

--- The address that a link in a page means: `http.resolve("https://example.com/a/b", "../c?d")` is `https://example.com/c?d`. The base of a page is `response.url`.
---@param base string
---@param link string
---@return string? address
---@return string? message the base is no whole address, or the link none at all
function http.resolve(base, link) end

--- Makes a request and hands the body of the answer on while it comes. Nothing more is read before `on_chunk` has returned. It returns when the body has ended.
---@param opts pi.HttpStreamOptions
---@return pi.HttpHead? response
---@return string? message there was no answer, it broke off, or the server was silent for too long
function http.stream(opts) end

--- Options of `http.stream`.
---@class pi.HttpStreamOptions
---@field url string
---@field method? string `GET` unless said, or `POST` with a body
---@field headers? table<string, string> a redirection to another origin takes only harmless ones along, as with `http.get`
---@field body? string
---@field json? any sent as JSON, in the place of `body`
---@field timeout? integer ms for which the server may be silent; 5 minutes unless said
---@field max_bytes? integer of the answer; no limit unless said
---@field redirect? boolean false: a redirection is given as it is
---@field public? boolean true: only to public addresses, and not through a proxy. Where a name leads is looked at when the connection is made, at each redirection anew; this machine, the networks around it and what a cloud tells of its machines are refused. For addresses that a page or a model names
---@field signal? pi.Signal ends it, such as `ctx.signal`: nil and a message
---@field on_chunk fun(bytes: string, response: pi.HttpHead): boolean? gets each piece as it comes, whatever the status is; true ends the stream. An error ends it and is one of `http.stream`

--- An answer without its body.
---@class pi.HttpHead
---@field status integer
---@field headers table<string, string> names in small letters
---@field url string the address that answered, behind all redirections

--- Makes a request and hands on the events of the answer, which has to be a `text/event-stream`. It returns when the stream has ended, and does not connect anew; to listen all the time, call it in `timer.after(0, …)`. What an event makes a hook send counts as coming from outside.
---@param opts pi.HttpEventsOptions
---@return pi.HttpEventsEnd? response
---@return string? message there was no answer, it has no events, it broke off, or the server was silent for too long
function http.events(opts) end

--- Options of `http.events`.
---@class pi.HttpEventsOptions
---@field url string
---@field method? string `GET` unless said, or `POST` with a body
---@field headers? table<string, string> such as `["Last-Event-ID"]`, to go on where a stream has ended; a redirection to another origin takes only harmless ones along, as with `http.get`
---@field body? string
---@field json? any sent as JSON, in the place of `body`
---@field timeout? integer ms for which the server may be silent, comments count; 5 minutes unless said
---@field max_bytes? integer of an event; 16 MiB unless said, 64 MiB at most
---@field redirect? boolean false: a redirection is an answer without events
---@field public? boolean true: only to public addresses, and not through a proxy. Where a name leads is looked at when the connection is made, at each redirection anew; this machine, the networks around it and what a cloud tells of its machines are refused. For addresses that a page or a model names
---@field signal? pi.Signal ends it, such as `ctx.signal`: nil and a message
---@field on_event fun(event: pi.HttpEventData): boolean? gets each event as it comes; true ends the stream. An error ends it and is one of `http.events`

--- An event of a server.
---@class pi.HttpEventData
---@field event string its name; `message` when it has none
---@field data string
---@field id? string of the last event that had one

--- How a stream of events ended.
---@class pi.HttpEventsEnd: pi.HttpHead
---@field id? string of the last event that had one
---@field retry? integer ms that the server wants a client to wait before it connects anew

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
---@field form? table<string, string> the fields of a body that is a form

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
--- `fn` may wait, as for a promise; its answer goes out whole when it returns.
---@param opts pi.ListenOptions
---@param fn fun(request: pi.HttpRequest): string|pi.HttpAnswer?
---@return pi.Server? server
---@return string? message the port is taken
function http.listen(opts, fn) end

return http
