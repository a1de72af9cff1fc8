-- 4: attempt to index "io", which is nil, with key "open"; files: local fs = require "pi.fs"
pi.command("notes", {
  handler = function()
    return { status = io.open("notes.txt"):read("*a") }
  end,
})
