-- 2: attempt to index "console", which is nil, with key "log"; print(…) tells the person, pi.log(…) writes into the hook log
pi.on("session_start", function() console.log("hello") end)
