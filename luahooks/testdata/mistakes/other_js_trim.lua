-- 4: attempt to call "event.text.trim", which is no function; s:match("^%s*(.-)%s*$")
-- check nothing
pi.on("input", function(event)
  return { text = event.text:trim() }
end)
