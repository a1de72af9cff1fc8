-- 3: syntax error near '='; values are compared with ==
pi.on("input", function(event)
  if event.text = "x" then return { handled = true } end
end)
