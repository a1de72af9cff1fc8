-- 4: attempt to call "event.text.split", which is no function; for word in s:gmatch("%S+") do goes through the words
-- check nothing
pi.on("input", function(event)
  for _, word in ipairs(event.text:split(" ")) do print(word) end
end)
