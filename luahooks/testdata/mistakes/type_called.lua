-- 4: bad argument #2 to 'on' (function expected, got nil): "gate(…)" is nil
-- check nothing
local function gate(event) return nil end
pi.on("tool_call", gate())
