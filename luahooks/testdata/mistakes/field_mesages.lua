-- 3: the event context has no field "mesages", did you mean "messages"?
pi.on("context", function(event)
  return { messages = event.mesages }
end)
