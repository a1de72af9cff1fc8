-- 2: pi has no field "commnad", did you mean "command"?
pi.commnad("hello", { handler = function() return "hello" end })
