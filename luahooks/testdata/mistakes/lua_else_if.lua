-- 8: syntax error near ')'; "else if" opens a block of its own, elseif does not
pi.on("tool_call", function(event)
  if event.tool_name == "bash" then
    print("bash")
  else if event.tool_name == "read" then
    print("read")
  end
end)
