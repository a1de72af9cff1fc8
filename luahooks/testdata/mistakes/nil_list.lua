-- 4: bad argument #1 to ipairs (table expected, got nil): "event.input.edits" is nil
-- check nothing
pi.on("tool_call", function(event)
  for _, edit in ipairs(event.input.edits) do print(edit.old_text) end
end)
