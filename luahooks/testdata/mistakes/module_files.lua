-- 2: module pi.file does not exist, did you mean "pi.fs"?
local files = require("pi.file")
pi.command("list", { handler = function() return files.list()[1].name end })
