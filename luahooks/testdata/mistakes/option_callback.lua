-- 2: command: unknown option "callback", did you mean "handler"?
pi.command("hello", { description = "greets", callback = function() return "hello" end })
