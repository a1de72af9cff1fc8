-- 3: unknown key "isError" in the result of tool_result, did you mean "is_error"?
pi.on("tool_result", function(event)
  return { content = event.content, isError = false }
end)
