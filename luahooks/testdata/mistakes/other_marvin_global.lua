-- 2: attempt to index "marvin", which is nil, with key "on"; hooks of marvin begin with local marvin = require "pi.compat.marvin"
marvin.on("session.start", function() print("hello") end)
