-- Webhook: programs on this machine talk to the agent over HTTP.
--
--   export PI_WEBHOOK_TOKEN=$(openssl rand -hex 16)     before pi is started
--   curl -H "Authorization: Bearer $PI_WEBHOOK_TOKEN" -d '{"text": "CI is red, look at it"}' http://127.0.0.1:8750/prompt
--
-- The text is sent as if you had typed it, and waits while the agent is busy. It
-- is never run as a command. Without a token nothing is listened on: every
-- program here, and whoever reaches one, could command the agent. The port is
-- $PI_WEBHOOK_PORT, or 8750.
--
-- Needs: a token in $PI_WEBHOOK_TOKEN.
--
-- Install: pi hooks add example:webhook, or try it with pi --hook webhook.lua.

local http = require "pi.http"
local json = require "pi.json"

if pi.hook.agent then return end -- prompts from outside are for the session of the user

local function refuse(status, message)
  return { status = status, json = { error = message } }
end

local function answer(request)
  if request.method ~= "POST" then return refuse(405, "use POST") end
  local body = json.decode(request.body)
  local text = type(body) == "table" and body.text
  if type(text) ~= "string" or text:find("^%s*$") then
    return refuse(400, 'the body has to be JSON: {"text": "…"}')
  end
  local ok, err = pi.send_user_message(text)
  if not ok then return refuse(503, err) end
  return { status = 202, json = { accepted = true } }
end

local server

pi.on("session_start", function(_, ctx)
  if server or not ctx.has_ui then return end -- a program that prints ends too soon to be called
  local token = os.getenv("PI_WEBHOOK_TOKEN") or ""
  if token == "" then
    ctx.ui.notify("webhook: not listening, because PI_WEBHOOK_TOKEN is not set", "warning")
    return
  end
  local port = tonumber(os.getenv("PI_WEBHOOK_PORT") or 8750)
  local err
  server, err = http.listen({ port = port, path = "/prompt", token = token }, answer)
  ctx.ui.notify(server and "webhook: " .. server.url or "webhook: " .. err, server and "info" or "warning")
end)
