-- 2: pi has no field "registerTool", did you mean "tool"?
pi.registerTool({ name = "hello", description = "greets", execute = function() return "hello" end })
