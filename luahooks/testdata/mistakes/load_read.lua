-- 3: fs.read: not available while the hook loads; use session_start
local fs = require "pi.fs"
local rules = fs.read("rules.txt") or ""
pi.on("input", function(event) return { text = rules .. event.text } end)
