-- 4: attempt to loop over "event.messages", which is no function; a list: for i, x in ipairs(event.messages) do
-- check nothing
pi.on("context", function(event)
  for message in event.messages do
    print(message.role)
  end
end)
