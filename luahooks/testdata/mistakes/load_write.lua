-- 3: fs.write: not available while the hook loads; use session_start
local fs = require "pi.fs"
fs.write("started.txt", os.date())
pi.on("input", function(event) return { text = "hello " .. event.text } end)
