-- Tests of webhook.lua: pi test examples/webhook_test.lua

local t = require "pi.test"
local http = require "pi.http"
local json = require "pi.json"

local function server(t)
  t.hook("webhook.lua")
  t.env { PI_WEBHOOK_TOKEN = "secret", PI_WEBHOOK_PORT = "0" }
  t.answers {}
  t.equal(t.entries(), {})
  return t.ok(t.notices()[1].text:match("webhook: (http://.*)"), t.notices()[1].text)
end

local function post(url, body, token)
  return assert(http.request { method = "POST", url = url, body = body, headers = { Authorization = "Bearer " .. (token or "secret") } })
end

t.case("a program sends a prompt", function(t)
  local url = server(t)
  t.model { "I look" }
  t.equal(post(url, json.encode { text = "CI is red" }).status, 202)
  t.soon(function() return #t.requests() == 1 end)
  t.match(json.encode(t.requests()[1].messages), "CI is red")
end)

t.case("what is no prompt is refused", function(t)
  local url = server(t)
  t.equal(post(url, "{}").status, 400)
  t.equal(post(url, "no json").status, 400)
  t.equal(post(url, '{"text": "x"}', "wrong").status, 401)
  t.equal(#t.requests(), 0)
end)

t.case("without a token nothing is listened on", function(t)
  t.hook("webhook.lua")
  t.answers {}
  t.equal(t.entries(), {})
  t.shown("not listening")
end)

t.case("an agent that the model uses listens to nobody", function(t)
  t.file("task.lua", [[pi.tool { name = "task", description = "hands work on", parameters = { type = "object" },
    execute = function(params) return require("pi.agent").run { prompt = params.prompt }.text end }]])
  t.hook(t.dir() .. "/task.lua")
  server(t)
  local before = #t.notices()
  t.model { "looked" }
  t.match(t.tool("task", { prompt = "look" }).text, "looked")
  t.equal(#t.notices(), before)
end)
