-- Language servers: what is wrong with a file stands below the result of the write or edit that
-- changed it, and the model can ask where a name is defined and where it is used.
--
-- A server is started when a file of its language is first changed or asked about, if it is
-- installed; a new version of this file takes it up, and it ends with pi. In config.toml:
--
--   [hook.lsp]
--   wait = 2000                  # ms that a result waits for what the server finds
--   servers.zls = { command = ["zls"], language = "zig", extensions = ["zig"] }
--   servers.clangd = { command = [] }    # none for C
--
-- A server that the tool "lsp" was asked of counts as started by it: while it lives, changes of
-- hooks wait for your approval.
--
-- Needs: a language server: `gopls`, `rust-analyzer`, `pyright-langserver`,
-- `typescript-language-server` or `clangd`, or one in config.toml.
--
-- Install: pi hooks add example:lsp, or try it with pi --hook lsp.lua.

local fs = require "pi.fs"
local http = require "pi.http"
local json = require "pi.json"
local path = require "pi.path"
local schema = require "pi.schema"

local KNOWN = {
  gopls = { command = { "gopls" }, language = "go", extensions = { "go" } },
  ["rust-analyzer"] = { command = { "rust-analyzer" }, language = "rust", extensions = { "rs" } },
  pyright = { command = { "pyright-langserver", "--stdio" }, language = "python", extensions = { "py" } },
  typescript = { command = { "typescript-language-server", "--stdio" }, language = "typescript", extensions = { "ts", "tsx", "js", "jsx" } },
  clangd = { command = { "clangd" }, language = "c", extensions = { "c", "h", "cc", "cpp", "hpp" } },
}
for name, server in pairs(pi.settings.servers or {}) do KNOWN[name] = server end

local WAIT = pi.settings.wait or 2000 -- ms, for what a server finds in a file
local ANSWER = 30000                  -- ms, for an answer to a request
local SHOWN = 20                      -- errors of a file, places of a name

-- What a new version of this file has to know of a server that runs: the last id, the versions of
-- the files that it has open, and the beginning of a message that has not come whole.
pi.state.servers = pi.state.servers or {}
local servers = {} -- those that run: { name, known, program, waiting, found, news }

-- Positions count in units of UTF-16: two for what takes four bytes here.
local function units(s)
  local _, characters = s:gsub("[^\128-\191]", "")
  local _, long = s:gsub("[\240-\247]", "")
  return characters + long
end

local function to_uri(file) return "file://" .. http.encode(file):gsub("%%2F", "/") end

local function to_file(uri)
  return (uri:gsub("^file://", ""):gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local function send(server, message)
  message.jsonrpc = "2.0"
  local body = json.encode(message)
  return server.program.write(("Content-Length: %d\r\n\r\n%s"):format(#body, body))
end

-- Asks a server, and waits for the answer. nil and a message if there is none.
local function request(server, method, params)
  server.known.id = server.known.id + 1
  local id = server.known.id
  server.waiting[id] = pi.promise()
  local ok, err = send(server, { id = id, method = method, params = params })
  local answer
  if ok then answer, err = server.waiting[id].wait{ timeout = ANSWER } end
  server.waiting[id] = nil
  if not answer then return nil, ("%s: %s"):format(server.name, err) end
  if answer.error then return nil, ("%s: %s"):format(server.name, answer.error.message) end
  return answer.result
end

-- What a server asks is answered with nothing: it has no settings here, and may do what it likes.
local function reply(server, message)
  local result = json.null
  if message.method == "workspace/configuration" then
    result = json.list()
    for i = 1, #message.params.items do result[i] = json.null end
  end
  send(server, { id = message.id, result = result })
end

local function handle(server, message)
  if message.method and message.id then return reply(server, message) end
  if message.id and server.waiting[message.id] then return server.waiting[message.id].resolve(message) end
  if message.method ~= "textDocument/publishDiagnostics" then return end
  local uri, version = message.params.uri, message.params.version
  if version and version ~= json.null and version < (server.known.open[uri] or 0) then return end -- of a text before
  server.found[uri] = message.params.diagnostics
  if server.news[uri] then server.news[uri].resolve(true) end
end

-- Takes the messages apart that come in pieces.
local function receive(server, piece)
  local known = server.known
  known.rest = known.rest .. piece
  while true do
    local _, head_end = known.rest:find("\r\n\r\n", 1, true)
    if not head_end then return end
    local length = assert(tonumber(known.rest:sub(1, head_end):match("[Cc]ontent%-[Ll]ength: *(%d+)")), "no length")
    if #known.rest < head_end + length then return end
    local message = assert(json.decode(known.rest:sub(head_end + 1, head_end + length)))
    known.rest = known.rest:sub(head_end + length + 1)
    handle(server, message)
  end
end

local function listeners(server)
  return {
    lines = false,
    on_stdout = function(piece) receive(server, piece) end,
    on_stderr = function(piece) pi.log(server.name .. ": " .. piece) end,
    on_exit = function(exit)
      pi.log(("%s has ended: %s"):format(server.name, exit.signal or exit.code))
      servers[server.name], pi.state.servers[server.name] = nil, nil
      for _, waiting in pairs(server.waiting) do waiting.reject("it has ended") end
    end,
  }
end

local function new_server(name, known)
  pi.state.servers[name] = known
  return { name = name, known = known, waiting = {}, found = {}, news = {} }
end

pi.on("session_start", function()
  for name, known in pairs(pi.state.servers) do
    local server = new_server(name, known)
    server.program = pi.spawned("lsp " .. name, listeners(server))
    if server.program and known.ready then
      server.ready = pi.promise()
      server.ready.resolve(server)
      servers[name] = server
    else
      pi.state.servers[name] = nil
    end
  end
end)

local function start(server, cwd)
  local command, options = KNOWN[server.name].command, listeners(server)
  options.cwd, options.keep = cwd, "lsp " .. server.name
  local program, err = pi.spawn(command[1], { unpack(command, 2) }, options)
  if not program then return nil, err end
  server.program = program
  local _, refused = request(server, "initialize", {
    processId = json.null, rootUri = to_uri(cwd), workspaceFolders = { { uri = to_uri(cwd), name = path.base(cwd) } },
    capabilities = { textDocument = { publishDiagnostics = { versionSupport = true } }, workspace = { configuration = true } },
  })
  if refused then
    program.kill()
    return nil, refused
  end
  send(server, { method = "initialized", params = {} })
  server.known.ready = true
  return server
end

-- The server of a file, which is started once, whoever asks first. nil where there is none; with a
-- message if it is there and does not start, or not within timeout ms.
local function server_of(file, cwd, timeout)
  for name, spec in pairs(KNOWN) do
    for _, extension in ipairs(spec.extensions or {}) do
      if path.ext(file) == "." .. extension and spec.command[1] then
        local server = servers[name] or new_server(name, { id = 0, open = {}, rest = "" })
        servers[name] = server
        server.ready = server.ready or pi.async(function() return start(server, cwd) end)
        return server.ready.wait{ timeout = timeout }
      end
    end
  end
end

-- Tells a server what is in a file now.
local function sync(server, file)
  local uri, open = to_uri(file), server.known.open
  local text = assert(fs.read(file))
  open[uri] = (open[uri] or 0) + 1
  if open[uri] == 1 then
    local item = { uri = uri, languageId = KNOWN[server.name].language, version = 1, text = text }
    send(server, { method = "textDocument/didOpen", params = { textDocument = item } })
  else
    send(server, { method = "textDocument/didChange", params = {
      textDocument = { uri = uri, version = open[uri] }, contentChanges = { { text = text } } } })
  end
  send(server, { method = "textDocument/didSave", params = { textDocument = { uri = uri } } })
  return uri
end

-- The errors that a server finds in a file, a line each.
local function errors_in(server, file)
  local uri = to_uri(file)
  server.found[uri], server.news[uri] = nil, pi.promise()
  sync(server, file)
  server.news[uri].wait{ timeout = WAIT }
  server.news[uri] = nil
  local lines = {}
  for _, found in ipairs(server.found[uri] or {}) do
    local at = found.range.start
    if (found.severity or 1) == 1 then table.insert(lines, ("%d:%d: %s"):format(at.line + 1, at.character + 1, found.message)) end
  end
  return lines
end

pi.on("tool_result", function(event, ctx)
  if event.is_error or event.tool_name ~= "write" and event.tool_name ~= "edit" then return end
  local file = path.abs(event.input.path, ctx.cwd)
  local server, err = server_of(file, ctx.cwd, WAIT)
  if err then pi.log(err) end
  local lines = server and errors_in(server, file) or {}
  if #lines == 0 then return end
  local more = #lines > SHOWN and ("\n… and %d more"):format(#lines - SHOWN) or ""
  local text = ("\n%s finds errors in %s:\n%s%s"):format(server.name, event.input.path, table.concat(lines, "\n", 1, math.min(#lines, SHOWN)), more)
  table.insert(event.content, { type = "text", text = text })
  return { content = event.content }
end)

-- Where a name stands in a line, as a server counts it; nil if it does not.
local function position(file, line, name)
  local number = 0
  for text in (assert(fs.read(file)) .. "\n"):gmatch("(.-)\r?\n") do
    number = number + 1
    if number == line then
      local at = text:find(name, 1, true)
      return at and { line = line - 1, character = units(text:sub(1, at - 1)) }
    end
  end
end

-- A place as a line for the model: file, line and what stands there.
local function shown(place, cwd)
  local file, at = to_file(place.uri or place.targetUri), (place.range or place.targetSelectionRange).start.line + 1
  local number, text = 0, ""
  for line in ((fs.read(file) or "") .. "\n"):gmatch("(.-)\r?\n") do
    number = number + 1
    if number == at then text = line end
  end
  return ("%s:%d: %s"):format(path.rel(file, cwd) or file, at, text)
end

pi.tool{
  name = "lsp",
  description = "Ask the language server where a name in a source file is defined, or all places where it is used. More exact than grep.",
  prompt_snippet = "find definitions and uses of a name",
  annotations = { read_only = true, kind = "read" },
  parameters = schema.object{
    action = schema.enum{ "definition", "references" },
    path = schema.string("the file in which the name stands"),
    line = schema.integer("the line, from 1"),
    name = schema.string("the name as it stands in that line"),
  },
  execute = function(params, ctx)
    local file = path.abs(params.path, ctx.cwd)
    local server, err = server_of(file, ctx.cwd, ANSWER)
    if not server then return nil, err or "no language server is configured for " .. path.base(file) end
    local at = position(file, params.line, params.name)
    if not at then return nil, ("%q does not stand in line %d of %s"):format(params.name, params.line, params.path) end
    local uri = sync(server, file)
    local places, refused = request(server, "textDocument/" .. params.action, {
      textDocument = { uri = uri }, position = at, context = { includeDeclaration = true } })
    if refused then return nil, refused end
    if not places or #places == 0 and not places.uri then return "nothing was found" end
    if places.uri then places = { places } end
    local lines = {}
    for i = 1, math.min(#places, SHOWN) do lines[i] = shown(places[i], ctx.cwd) end
    if #places > SHOWN then table.insert(lines, ("… and %d more"):format(#places - SHOWN)) end
    return table.concat(lines, "\n")
  end,
}
