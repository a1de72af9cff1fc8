-- Tests of redact.lua: pi test examples/redact_test.lua

local t = require "pi.test"
local json = require "pi.json"

local SECRET = "ghp_" .. ("0123456789abcdefghijABCDEFGHIJklmnop"):sub(1, 36)

t.case("a secret reaches neither the model nor the session", function(t)
  t.hook("redact.lua")
  t.file("notes.txt", "token: " .. SECRET .. "\nplain words\n")
  t.model { { tool = "read", input = { path = "notes.txt" } }, "done" }
  t.prompt("read")
  local sent = json.encode(t.requests()[2].messages)
  t.ok(not sent:find(SECRET, 1, true), sent)
  t.match(sent, "plain words")
  t.ok(not json.encode(t.entries()):find(SECRET, 1, true))
  t.shown("secrets covered in the result of read: 1")
end)

t.case("of a failed call too", function(t)
  t.hook("redact.lua")
  t.model { { tool = "bash", input = { command = "echo " .. SECRET:sub(1, 10) .. "''" .. SECRET:sub(11) .. "; exit 1" } }, "done" }
  t.prompt("go")
  t.ok(not t.calls("bash")[1].text:find(SECRET, 1, true), t.calls("bash")[1].text)
end)

t.case("what is no secret is left alone", function(t)
  t.hook("redact.lua")
  t.file("notes.txt", "nothing here")
  t.model { { tool = "read", input = { path = "notes.txt" } }, "done" }
  t.prompt("read")
  t.match(t.calls("read")[1].text, "nothing here")
  t.equal(t.notices(), {})
end)

-- Lines of a private key that is none: letters of base64 from a small generator.
local function key_lines(width, n, last)
  local letters, at, lines = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 7, {}
  for i = 1, n + 1 do
    local line = {}
    for j = 1, i <= n and width or last do
      at = (at * 16807) % 2147483647
      line[j] = letters:sub(at % 64 + 1, at % 64 + 1)
    end
    lines[i] = table.concat(line)
  end
  lines[#lines] = lines[#lines] .. "=="
  return lines
end

local function key_file(kind, lines)
  return ("before\n-----BEGIN %s-----\n%s\n-----END %s-----\nplain words\n"):format(kind, table.concat(lines, "\n"), kind)
end

for _, kind in ipairs { { "PRIVATE KEY", 64, 26, 20 }, { "OPENSSH PRIVATE KEY", 70, 4, 18 }, { "EC PRIVATE KEY", 64, 2, 34 }, { "PGP PRIVATE KEY BLOCK", 64, 9, 2 } } do
  t.case("the inside of a private key is covered however it is read: " .. kind[1], function(t)
    local lines = key_lines(unpack(kind, 2))
    t.hook("redact.lua")
    t.file("server.pem", key_file(kind[1], lines))
    local n = #lines
    t.model {
      { tool = "read", input = { path = "server.pem" } },
      { tool = "read", input = { path = "server.pem", offset = 3 } },
      { tool = "read", input = { path = "server.pem", offset = 4, limit = 1 } },
      { tool = "read", input = { path = "server.pem", offset = n + 2, limit = 1 } },
      { tool = "grep", input = { pattern = "[A-Za-z0-9+/]{8,}" } },
      { tool = "grep", input = { pattern = "==$", path = "server.pem" } },
      { tool = "grep", input = { pattern = "END", path = "server.pem", context = 2 } },
      { tool = "bash", input = { command = "grep -n . server.pem | tail -n +4; grep -Hn '[+/]' *.pem; sed -n 3,5p server.pem; cat -n server.pem | tail -n +3" } },
      { tool = "bash", input = { command = "tail -n 3 server.pem; tail -n +4 server.pem | sed 's/^/+/'; exit 1" } },
      { tool = "edit", input = { path = "server.pem", edits = { { oldText = "plain words", newText = "other words" } } } },
      "done",
    }
    t.prompt("go")
    t.ran("edit")
    local sent, kept = json.encode(t.requests()[11].messages), json.encode(t.entries())
    for i, line in ipairs(lines) do
      t.ok(not sent:find(line, 1, true), ("line %d of %d is sent: %s"):format(i, n, sent))
      t.ok(not kept:find(line, 1, true), ("line %d of %d is kept"):format(i, n))
    end
    t.match(sent, "plain words")
  end)
end

t.case("the last line of a key alone is covered however its file is named", function(t)
  local lines = key_lines(64, 3, 9)
  t.hook("redact.lua")
  local body = key_file("PRIVATE KEY", lines)
  for _, name in ipairs { "k", "a b", "@twice", "of one", "~/home", "caf\195\169" } do t.file(name, body) end
  t.file("long", ("plain words of a log\n"):rep(100000) .. body)
  local at, calls = #lines + 2, {}
  for _, name in ipairs { "k", "./k", "@k", "@@twice", "@twice", "x/../k", "~/home", "@~/home", "a\194\160b", "@of\194\160one", "cafe\204\129" } do
    calls[#calls + 1] = { tool = "read", input = { path = name, offset = at, limit = 1 } }
  end
  calls[#calls + 1] = { tool = "read", input = { path = "long", offset = 100000 + at, limit = 1 } }
  calls[#calls + 1] = { tool = "grep", input = { pattern = "==$", path = "@long" } }
  t.model { { calls = calls }, "done" }
  t.prompt("go")
  local kept = json.encode(t.entries())
  for _, call in ipairs(t.calls()) do t.match(call.text, "%[redacted%]", json.encode(call.input)) end
  t.ok(not kept:find(lines[#lines], 1, true), kept)
end)

t.case("details of tools are covered, by what they are called, in lists of lines and beside images", function(t)
  local lines = key_lines(64, 3, 20)
  t.hook("redact.lua")
  t.file(".pi/hooks/vault.lua", ([[
    pi.tool { name = "vault", description = "opens the vault", parameters = require("pi.schema").object {}, execute = function()
      return { content = "open", details = { password = "hunter2hunter2", rows = { %q, %q, %q }, data = { deep = %q }, whole = { "-----BEGIN PRIVATE KEY-----", "abcd1234", "-----END PRIVATE KEY-----" }, name = "plain" } }
    end }]]):format(lines[2], lines[3], lines[4], SECRET))
  t.approve()
  t.model { { tool = "vault", input = {} }, "done" }
  t.prompt("go")
  t.ran("vault")
  local kept = json.encode(t.entries())
  for _, secret in ipairs { "hunter2", lines[2], lines[3], lines[4], SECRET, "abcd1234" } do t.ok(not kept:find(secret, 1, true), kept) end
  t.match(kept, "plain")
end)

t.case("what is public, and what is no key, stays", function(t)
  local lines = key_lines(64, 3, 20)
  t.hook("redact.lua")
  local open = table.concat({
    "-----BEGIN CERTIFICATE-----", lines[1], lines[2], "-----END CERTIFICATE-----", "ssh-ed25519 " .. lines[3] .. " me@host",
    ("0123456789abcdef"):rep(4), "/home/Some/Projects2026/OfMine/one/two/three/four/five/six/seven/Eight/Nine9", "word", "h1:" .. lines[1]:sub(1, 43) .. "=",
  }, "\n")
  t.file("notes.txt", open)
  t.model { { tool = "read", input = { path = "notes.txt" } }, { tool = "grep", input = { pattern = "." } }, "done" }
  t.prompt("read")
  t.equal(t.calls("read")[1].text, open)
  t.equal(t.notices(), {})
end)
