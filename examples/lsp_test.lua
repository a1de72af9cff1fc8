-- Tests of lsp.lua. The server is a script of the shell: BAD is an error to it, and everything is
-- defined in the first line. It notes in started.txt that it was started.

local t = require "pi.test"

local SERVER = [[
echo started >> started.txt
send() { printf 'Content-Length: %d\r\n\r\n' "${#1}"; printf '%s' "$1"; }
field() { printf '%s' "$body" | sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }
while IFS= read -r head; do
  IFS= read -r blank
  body=$(dd bs=1 count="$(printf '%s' "$head" | tr -dc 0-9)" 2>/dev/null)
  case $body in
  *'"method":"initialize"'*)
    send '{"jsonrpc":"2.0","id":"ask","method":"workspace/configuration","params":{"items":[{},{}]}}'
    send "{\"jsonrpc\":\"2.0\",\"id\":$(field id),\"result\":{\"capabilities\":{}}}" ;;
  *'"id":"ask"'*) printf '%s\n' "$body" >> answers.txt ;;
  *'"method":"textDocument/didOpen"'* | *'"method":"textDocument/didChange"'*)
    found=
    case $body in
    *DIE*) exit 3 ;;
    *BAD*) found='{"severity":1,"range":{"start":{"line":0,"character":3}},"message":"BAD is not defined"},{"severity":2,"range":{"start":{"line":0,"character":0}},"message":"a warning"}' ;;
    esac
    send "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":{\"uri\":\"$(field uri)\",\"version\":$(field version),\"diagnostics\":[$found]}}" ;;
  *'"method":"textDocument/definition"'*)
    printf '%s\n' "$body" >> asked.txt
    send "{\"jsonrpc\":\"2.0\",\"id\":$(field id),\"result\":{\"uri\":\"$(field uri)\",\"range\":{\"start\":{\"line\":0,\"character\":0}}}}" ;;
  *'"method":"textDocument/references"'*)
    send "{\"jsonrpc\":\"2.0\",\"id\":$(field id),\"result\":null}" ;;
  esac
done
]]

local function case(name, body)
  t.case(name, function(t)
    t.hook("lsp.lua")
    t.file("server.sh", SERVER)
    t.config { hook = { lsp = { wait = 20000, servers = { toy = { command = { "sh", "server.sh" }, language = "toy", extensions = { "toy" } } } } } }
    body(t)
  end)
end

case("errors stand below the result", function(t)
  local result = t.tool("write", { path = "a b.toy", content = "x = BAD" })
  t.match(result.text, "toy finds errors in a b.toy:\n1:4: BAD is not defined$")
  t.ok(not result.is_error)
  result = t.tool("edit", { path = "a b.toy", old_text = "BAD", new_text = "1" })
  t.ok(not result.text:find("errors"), result.text)
  t.match(t.tool("edit", { path = "a b.toy", old_text = "1", new_text = "BAD" }).text, "BAD is not defined")
  t.equal(t.read("started.txt"), "started\n")
end)

case("files of other languages, reading and failed edits are left alone", function(t)
  t.file("a.toy", "BAD")
  t.ok(not t.tool("write", { path = "a.txt", content = "BAD" }).text:find("errors"))
  t.ok(not t.tool("read", { path = "a.toy" }).text:find("errors"))
  t.ok(not t.tool("edit", { path = "a.toy", old_text = "none", new_text = "x" }).text:find("errors"))
  t.equal(t.read("started.txt"), nil)
end)

case("the model asks where a name is defined", function(t)
  t.file("a.toy", "one = 1\nprint('ä', one)\n")
  t.equal(t.tool("lsp", { action = "definition", path = "a.toy", line = 2, name = "one" }).text, "a.toy:1: one = 1")
  t.match(t.read("asked.txt"), '"character":11') -- in units of UTF-16, not bytes
  t.equal(t.tool("lsp", { action = "references", path = "a.toy", line = 2, name = "one" }).text, "nothing was found")
  local missing = t.tool("lsp", { action = "definition", path = "a.toy", line = 1, name = "two" })
  t.ok(missing.is_error)
  t.match(missing.text, '"two" does not stand in line 1')
  t.match(t.tool("lsp", { action = "definition", path = "a.txt", line = 1, name = "two" }).text, "no language server")
end)

case("what the server asks is answered", function(t)
  t.tool("write", { path = "a.toy", content = "fine" })
  t.soon(function() return t.read("answers.txt") end)
  t.match(t.read("answers.txt"), '"result":%[null,null%]')
end)

case("a new version of the hook takes the server up", function(t)
  t.tool("write", { path = "a.toy", content = "fine" })
  t.command("/reload")
  t.match(t.tool("write", { path = "a.toy", content = "BAD" }).text, "BAD is not defined")
  t.equal(t.read("started.txt"), "started\n")
end)

case("a server that dies is started again", function(t)
  t.config { hook = { lsp = { wait = 100 } } }
  t.ok(not t.tool("write", { path = "a.toy", content = "DIE" }).text:find("errors"))
  t.soon(function() return t.tool("write", { path = "b.toy", content = "BAD" }).text:find("BAD is not defined") end)
end)

case("a server that says nothing delays nobody for long", function(t)
  t.file("server.sh", "while IFS= read -r line; do :; done")
  t.config { hook = { lsp = { wait = 50 } } }
  local result = t.tool("write", { path = "a.toy", content = "BAD" })
  t.ok(not result.is_error and not result.text:find("errors"), result.text)
end)

t.case("a server that is not installed changes nothing", function(t)
  t.hook("lsp.lua")
  t.config { hook = { lsp = { servers = { toy = { command = { "no-such-server" }, language = "toy", extensions = { "toy" } } } } } }
  local result = t.tool("write", { path = "a.toy", content = "BAD" })
  t.ok(not result.is_error and not result.text:find("errors"), result.text)
  t.match(t.tool("lsp", { action = "definition", path = "a.toy", line = 1, name = "BAD" }).text, "no%-such%-server")
end)
