-- 3: a handler of input returns nil or a table, not a string
pi.on("input", function(event)
  return event.text:upper()
end)
