-- 2: command: option "handler" is missing
pi.command("hello")
