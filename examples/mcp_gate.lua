-- MCP gate: asks once about each tool of an MCP server before it is called.
--
-- A yes counts for any arguments, as long as the server says the same of the
-- tool: when its description or its arguments change, you are asked again. It is
-- forgotten when pi ends, and never written to the disk, where a tool could
-- write one too. Without a user every call is blocked.
--
-- A call has one name and comes here whichever way it was made: by the tool mcp,
-- by its own name, by a hook, or by pi mcp call in a shell. To search, to
-- describe and to read resources is free.
--
-- Install: pi hooks add example:mcp_gate, or try it with pi --hook mcp_gate.lua.

local json = require "pi.json"

pi.on("tool_call", function(event, ctx)
  if not event.mcp then return end
  local name, definition = event.tool_name, event.mcp.definition
  local allowed = pi.state.allowed or {} -- the definition that was allowed, by name
  if definition and allowed[name] == definition then return end
  if not ctx.has_ui then
    return { block = true, reason = "this tool of an MCP server needs a user to allow it" }
  end
  local title = allowed[name] and "%s is another than the one you allowed. Allow it again?" or "Allow %s from now on?"
  if not ctx.ui.confirm(title:format(name), json.encode(event.input)) then
    return { block = true, reason = "the user did not allow this tool" }
  end
  allowed[name] = definition
  pi.state.allowed = allowed
end)
