-- 4: attempt to index "event.messages[0]", which is nil, with key "role"; lists begin with 1
-- check nothing
pi.on("context", function(event)
  print(event.messages[0].role)
end)
