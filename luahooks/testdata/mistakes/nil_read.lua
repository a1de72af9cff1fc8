-- 4: cannot perform concat operation between string and nil: "fs.read(…)" is nil; fs.read returned nil and a message: local r, err = fs.read(…), or assert(fs.read(…))
-- check nothing
local fs = require "pi.fs"
pi.command("notes", { handler = function() return { status = "notes: " .. fs.read("no-such-notes.txt") } end })
