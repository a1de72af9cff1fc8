-- 2: syntax error near 'sh'; a variable begins with local
const sh = require("pi.sh")
pi.on("tool_call", function(event) end)
