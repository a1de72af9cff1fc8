-- 3: unknown key "action" in the result of input; it may have text, attachments, handled
pi.on("input", function(event)
  return { action = "handled" }
end)
