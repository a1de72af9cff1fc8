-- 4: attempt to call "event.content.find", which is no function; a list has no methods; the text of content blocks: require "pi.text".of(…)
-- check nothing
pi.on("tool_result", function(event)
  if event.content:find("password", 1, true) then print("a password") end
end)
