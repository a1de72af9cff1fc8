-- Changes what is sent, and notes what comes back.
pi.on("before_provider_request", function(event)
  local payload = event.payload
  payload.temperature = 0
  return { payload = payload }
end)
pi.on("before_provider_headers", function() return { headers = { ["X-Team"] = "blue" } } end)
pi.on("after_provider_response", function(event, ctx) ctx.ui.notify("status " .. event.status) end)
