-- Says what came of requests.
pi.command("reach", { handler = function(ctx)
  local http = require "pi.http"
  local r, why = http.get(ctx.args[1])
  local s, streamed = http.stream { url = ctx.args[1], on_chunk = function() end }
  return { status = tostring(r and r.status) .. " " .. tostring(why) .. "; " .. tostring(s and s.status) .. " " .. tostring(streamed) }
end })
