-- 3: pi.fs has no field "read_file", did you mean "read"?
local fs = require "pi.fs"
pi.command("notes", { handler = function() return { status = fs.read_file("notes.txt") } end })
