-- Servers and a browser that a test plays.
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

t.case("a user signs in in a browser", function(t)
  t.hook("signed.lua")
  local seen = {}
  local server = t.http {
    ["/in"] = function(request)
      local q = request.query
      seen.challenge = q.code_challenge_method
      return { status = 302, headers = { Location = q.redirect_uri .. "?code=c0de&state=" .. q.state } }
    end,
    ["/token"] = function(request)
      seen.code, seen.client = request.form.code, request.form.client_id
      return { json = { access_token = "token", token_type = "Bearer", expires_in = 3600 } }
    end,
  }
  t.config { model = "page/m", hook = { signed = { server = server.url } } }
  t.browser(function(url)
    seen.status = http.get(url).status
  end)
  t.model { "hello" }
  t.ok(t.command("/login page"))
  t.equal(seen, { challenge = "S256", code = "c0de", client = "mine", status = 200 })
  t.equal(t.prompt("hi"), "hello")
  t.equal({ t.requests()[1].headers.Authorization, t.requests()[1].url }, { "Bearer token", server.url .. "/chat/completions" })
end)

t.case("a user signs in with words, which are renewed in time", function(t)
  t.hook("signed.lua")
  local opened = {}
  local server = t.http { ["/page"] = function() return "" end }
  t.config { model = "word/m", hook = { signed = { server = server.url } } }
  t.answers { input = "open-sesame" }
  t.browser(function(url) opened[#opened + 1] = url end)
  t.model { "one", "two" }
  t.ok(t.command("/login word"))
  t.shown("The word")
  t.shown("Wait a moment.")
  t.shown("nil: http://evil.example/ is not opened")
  t.equal(opened, { server.url .. "/page" })
  t.prompt("a")
  t.clock.advance(3600000)
  t.prompt("b")
  t.equal({ t.requests()[1].headers.Authorization, t.requests()[2].headers.Authorization }, { "Bearer open-sesame", "Bearer open-sesame+" })
end)

t.case("a user leaves", function(t)
  t.hook("signed.lua")
  t.answers { input = function() end }
  local _, why = t.command("/login word")
  t.match(why, "no word, no login")
end)
