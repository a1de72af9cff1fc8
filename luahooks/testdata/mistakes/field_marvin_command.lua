-- 3: the event tool.execute.before has no field "command"; it is event.input.command
local marvin = require "pi.compat.marvin"
marvin.on("tool.execute.before", function(event) print(event.command) end)
