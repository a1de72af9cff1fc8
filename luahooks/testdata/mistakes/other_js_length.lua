-- 4: attempt to compare number with nil: "event.messages.length" is nil; the length of a list or text is #x
-- check nothing
pi.on("context", function(event)
  if event.messages.length > 50 then print("long") end
end)
