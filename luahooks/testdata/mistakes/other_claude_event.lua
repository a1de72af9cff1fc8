-- 2: on: unknown event "PreToolUse", did you mean "tool_call"?
pi.on("PreToolUse", function(event)
  if event.tool_name == "Bash" then return { decision = "block", reason = "no" } end
end)
