-- A hook that has other agents work, for modules_test.lua.

local agent = require "pi.agent"
local json = require "pi.json"

local function said(result, message)
  if not result then
    return { status = "nil " .. message }
  end
  return { status = result.stop_reason .. ": " .. (result.error or result.text) .. (result.value and json.encode(result.value) or "") }
end

pi.command("ask", { description = "Has an agent work", handler = function(event)
  return said(agent.run { prompt = event.args[2], name = event.args[1], tools = {}, timeout = 200 })
end })

pi.command("start", { description = "Has an agent work beside", handler = function(event)
  local h = assert(agent.start { prompt = event.args[2], name = event.args[1], timeout = 5000 })
  assert(h.steer("to the left"))
  if h.wait { timeout = 0 } then
    return { status = "it has ended" }
  end
  h.abort()
  return said(h.wait())
end })

pi.command("beside", { description = "Has several work", handler = function()
  local a, b = pi.all { function() return agent.run { prompt = "one", agent = "left" } end, function() return agent.run { prompt = "two", agent = "right" } end }
  return { status = a.text .. " " .. b.text }
end })

local seen = {}
pi.command("seen", { description = "Has an agent work, and tells its events", handler = function(event)
  local result = agent.run { prompt = event.args[1], on_event = function(e) seen[#seen + 1] = e.type end }
  return { status = result.text .. " after " .. table.concat(seen, " ") }
end })
