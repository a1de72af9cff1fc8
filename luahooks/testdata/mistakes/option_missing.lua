-- 2: tool: option "description" is missing
pi.tool { name = "add", execute = function() return "1" end }
