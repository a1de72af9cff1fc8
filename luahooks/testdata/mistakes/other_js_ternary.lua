-- 3: syntax error near '?'; a choice is written a and b or c
pi.on("input", function(event)
  return { text = event.text == "" ? "go on" : event.text }
end)
