-- Servers that a test plays.
local t = require "pi.test"
local http = require "pi.http"

t.case("a server answers by its paths", function(t)
  local seen
  local server = t.http {
    ["/token"] = function(request)
      seen = request
      return { status = 201, json = { token = request.form.code .. "!" } }
    end,
    ["/away"] = function() return { status = 302, headers = { Location = "/text" } } end,
    ["/text"] = function() return "here" end,
    ["/nothing"] = function() end,
  }
  t.equal(server.url, "http://127.0.0.1:" .. server.port)
  local r = t.ok(http.post(server.url .. "/token?a=b", { body = http.encode { code = "a b", kind = "x" },
    headers = { ["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8" } }))
  t.equal({ r.status, r.body }, { 201, '{"token":"a b!"}' })
  t.equal({ seen.method, seen.path, seen.query, seen.form }, { "POST", "/token", { a = "b" }, { code = "a b", kind = "x" } })
  t.equal(http.get(server.url .. "/away").body, "here")
  t.equal(http.get(server.url .. "/nothing").status, 204)
  t.equal(http.get(server.url .. "/nowhere").status, 404)
  server.close()
  t.equal(http.get(server.url .. "/text"), nil)
end)

t.case("hooks reach a server", function(t)
  t.hook("reach.lua")
  local server = t.http { ["/x"] = function() return { status = 418 } end }
  t.equal(t.command("/reach " .. server.url .. "/x"), "418 nil; 418 nil")
end)

t.case("what is no path or no function is misuse", function(t)
  t.raises(function() t.http { x = print } end, '"x" is no path; they begin with /')
  t.raises(function() t.http { ["/x"] = "text" } end, "/x has a function that answers, not a string")
  t.raises(function() t.browser("x") end, "function expected")
end)
