-- 3: unknown key "block" in the result of session_before_switch, did you mean "cancel"?
pi.on("session_before_switch", function(event)
  return { block = true }
end)
