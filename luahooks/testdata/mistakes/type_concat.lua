-- 3: cannot perform concat operation between table and string: "event.content" is a table
pi.on("tool_result", function(event)
  return { content = event.content .. "\n(checked)" }
end)
