-- A hook that uses a server and guards it, for modules_test.lua.

local mcp = require "pi.mcp"

pi.on("tool_call", function(event)
  if event.tool_name == "mcp__db__echo" and event.mcp.via == "hook" and event.input.text == "secret" then
    return { block = true, reason = "not that" }
  end
end)

local db

pi.command("echo", { description = "Has the server say something", handler = function(event)
  db = db or mcp.connect { name = "db", command = "db-server" }
  return { status = db.call("echo", { text = event.args[1] }).content[1].text }
end })

pi.command("leave", { description = "Leaves the server", handler = function()
  db.close()
  local result, why = db.call("echo", { text = "again" })
  return { status = not result and why and "closed" or "open" }
end })
