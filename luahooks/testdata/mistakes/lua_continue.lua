-- 4: syntax error near 'end'; Lua has no continue: put what is left out into an if
pi.on("tool_result", function(event)
  for _, block in ipairs(event.content) do
    if block.type ~= "text" then continue end
  end
end)
