-- 2: bad argument #2 to 'command' (table expected, got function)
pi.command("hello", function() return "hello" end)
