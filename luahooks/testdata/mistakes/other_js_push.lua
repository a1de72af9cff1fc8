-- 4: attempt to call "event.messages.push", which is no function; list[#list + 1] = x adds to a list
-- check nothing
pi.on("context", function(event)
  event.messages.push({ role = "user", content = "Be brief." })
  return { messages = event.messages }
end)
