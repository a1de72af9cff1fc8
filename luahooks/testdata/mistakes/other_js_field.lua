-- 2: syntax error near 'greets'; a field of a table is written name = value
pi.command("hello", { description: "greets", handler = function() return "hello" end })
