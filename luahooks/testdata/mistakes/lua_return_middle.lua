-- 4: syntax error near 'print'; return is the last of its block: if … then return … end
pi.on("input", function(event)
  return { text = event.text }
  print("never")
end)
