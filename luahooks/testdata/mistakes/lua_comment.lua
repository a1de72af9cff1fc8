-- 2: syntax error near '/'; a comment begins with --
// blocks nothing
pi.on("tool_call", function(event) end)
