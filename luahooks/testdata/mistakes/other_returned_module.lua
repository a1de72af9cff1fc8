-- check 3: nobody calls tool_call of the table that the file returns; a handler is registered: pi.on("tool_call", fn)
local M = {}
function M.tool_call(event)
  if event.tool_name == "bash" then return { block = true, reason = "no" } end
end
return M
