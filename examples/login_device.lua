-- Sign in with a code: a subscription with rules of its own, as a provider that /login signs in to.
--
--   [hook.login_device]                       in config.toml
--   server = "https://models.example.com"     where you have an account
--   client_id = "…"                           of a client that you registered there
--
-- The user types a code in a browser, which is standard (RFC 8628), so ui.oauth does it. What is
-- not: the token of the account lets no request in. It is traded for a pass, which holds for some
-- minutes and says at which address the plan of this account is served. pi calls refresh before a
-- pass ends, and when the server refuses it; auth says what goes along with each request.
--
-- Both are kept in auth.json, in an entry that names this hook: no other hook gets it. Without the
-- two settings there is no provider.
--
-- Needs: [hook.login_device] in config.toml.
--
-- Install: pi hooks add example:login_device, or try it with pi --hook login_device.lua.

local http = require "pi.http"
local json = require "pi.json"
local schema = require "pi.schema"

local settings = pi.declare_settings(schema.object {
  server = schema.string { description = "where the account is", default = "" },
  client_id = schema.string { description = "of the client that is registered there", default = "" },
})
local server = settings.server:gsub("/+$", "")

-- Trades the token of an account for a pass, and returns what is kept of both: access and expires
-- are words that pi knows, the others are ours. An error never has a token in it.
local function with_pass(account)
  local answer, message = http.post(server .. "/pass", { headers = { Authorization = "Bearer " .. account }, redirect = false, timeout = 30000 })
  if not answer then return nil, message end
  local pass = answer.status == 200 and json.decode(answer.body)
  if type(pass) ~= "table" or type(pass.token) ~= "string" then
    return nil, answer.status == 403 and "this account has no plan that answers here" or server .. " gives no pass: HTTP " .. answer.status
  end
  return { account = account, access = pass.token, expires = pass.expires_at * 1000, plan = pass.plan, api = pass.api }
end

local function start(ui)
  local signed, message = ui.oauth {
    kind = "device",
    device_url = server .. "/device",
    token_url = server .. "/token",
    client_id = settings.client_id,
    scopes = { "models" },
  }
  if not signed then return nil, message end
  local credential
  credential, message = with_pass(signed.access)
  if credential then ui.show("Your plan is " .. credential.plan .. ".") end
  return credential, message
end

if server ~= "" and settings.client_id ~= "" then
  pi.provider("plan", {
    base_url = server .. "/v1", -- auth says another one for each plan
    api = "openai-completions",
    models = { { id = "small", context_window = 128000 }, { id = "large", context_window = 400000 } },
    login = {
      start = start,
      refresh = function(credential) return with_pass(credential.account) end,
      auth = function(credential)
        return { key = credential.access, headers = { ["X-Plan"] = credential.plan }, base_url = credential.api }
      end,
    },
  })
end
