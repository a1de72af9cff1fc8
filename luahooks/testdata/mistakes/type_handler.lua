-- 2: bad argument #2 to 'on' (function expected, got string)
pi.on("tool_call", "gate")
