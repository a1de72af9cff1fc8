local t = require "pi.test"
local http = require "pi.http"

-- The server of the subscription: codes, tokens, and passes that hold for ten minutes.
local function account(t)
  local a = { plan = "basic", passes = 0, asked = {} }
  local typed = false
  local server
  server = t.http {
    ["/device"] = function(request)
      a.asked[#a.asked + 1] = request.form
      return { json = { device_code = "d3vice", user_code = "ABCD-1234", verification_uri = server.url .. "/type", expires_in = 600, interval = 1 } }
    end,
    ["/type"] = function() typed = true end,
    ["/token"] = function(request)
      a.asked[#a.asked + 1] = request.form
      if not typed then return { status = 400, json = { error = "authorization_pending" } } end
      if a.no then return { status = 400, json = { error = "access_denied", error_description = "not this one" } } end
      return { json = { access_token = "account-token", token_type = "bearer" } }
    end,
    ["/pass"] = function(request)
      t.equal(request.headers.authorization, "Bearer account-token")
      if not a.plan then return { status = 403 } end
      a.passes = a.passes + 1
      return { json = { token = "pass-" .. a.passes, expires_at = t.clock.now() / 1000 + 600, plan = a.plan, api = server.url .. "/" .. a.plan } }
    end,
  }
  t.hook("login_device.lua")
  t.config { model = "plan/small", hook = { login_device = { server = server.url .. "/", client_id = "mine" } } }
  t.browser(function(url)
    t.equal(url, server.url .. "/type")
    http.get(url)
  end)
  a.url = server.url
  return a
end

t.case("a user signs in, and requests have what the plan wants", function(t)
  local a = account(t)
  t.model { "hello" }
  t.match(t.ok(t.command("/login plan")), "Your plan is basic%.")
  t.shown("ABCD-1234")
  t.equal({ a.asked[1].client_id, a.asked[1].scope, a.asked[2].device_code }, { "mine", "models", "d3vice" })
  t.equal(t.prompt("hi"), "hello")
  local sent = t.requests()[1]
  t.equal({ sent.headers.Authorization, sent.headers["X-Plan"], sent.url }, { "Bearer pass-1", "basic", a.url .. "/basic/chat/completions" })
end)

t.case("a pass is renewed before it ends, and when it is refused", function(t)
  local a = account(t)
  t.model { "one", "two", { error = "no such pass", status = 401 }, "three" }
  t.ok(t.command("/login plan"))
  t.prompt("a")
  t.clock.advance(9 * 60000)
  a.plan = "pro"
  t.equal(t.prompt("b"), "two")
  t.equal({ a.passes, t.requests()[2].headers.Authorization, t.requests()[2].headers["X-Plan"] }, { 2, "Bearer pass-2", "pro" })
  t.clock.advance(2 * 60000)
  t.equal(t.prompt("c"), "three")
  t.equal({ a.passes, t.requests()[4].headers.Authorization }, { 3, "Bearer pass-3" })
end)

t.case("who may not, and an account without a plan", function(t)
  local a = account(t)
  a.no = true
  local _, why = t.command("/login plan")
  t.match(why, "not this one")
  a.no, a.plan = false, false
  _, why = t.command("/login plan")
  t.match(why, "this account has no plan that answers here")
  t.equal(why:find("account-token", 1, true), nil)
end)

t.case("without settings there is no provider", function(t)
  t.hook("login_device.lua")
  t.answers {}
  local _, why = t.command("/login plan")
  t.match(why, "there is no provider of that name")
end)
