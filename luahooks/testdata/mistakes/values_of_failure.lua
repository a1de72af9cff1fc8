-- 5: 'hash.sha256' takes at most 1 arguments, got 2; fs.read returned nil and a message: local r, err = fs.read(…), or assert(fs.read(…))
-- check nothing
local fs = require "pi.fs"
local hash = require "pi.hash"
pi.command("sum", { handler = function() return { status = hash.sha256(fs.read("no-such-notes.txt")) } end })
