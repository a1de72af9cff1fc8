local t = require "pi.test"

-- A hook's tool that stands in the place of one of a server.
local function instead(t)
  t.mcp { name = "db", tools = { query = { run = function(args) return "rows of " .. args.text end,
    parameters = { type = "object", properties = { text = { type = "string" } } } } } }
  t.file("instead.lua", [[
    pi.tool { name = "mcp__db__query", description = "asks the database", parameters = { type = "object", properties = { text = { type = "string" } } },
      execute = function(params, ctx, call) return "seen: " .. require("pi.text").of(assert(call.original { text = params.text:upper() })) end }
    pi.command("none", { handler = function() pi.set_active_tools { "mcp" } end })
  ]])
  t.hook(t.dir() .. "/instead.lua")
end

t.case("a call by mcp runs the tool of the hook, which reaches that of the server", function(t)
  instead(t)
  t.model { { tool = "mcp", input = { call = "db/query", arguments = { text = "a" } } }, "done" }
  t.prompt("go")
  t.equal(t.calls("mcp__db__query")[1].text, "seen: rows of A")
  t.equal(t.tool("mcp__db__query", { text = "b" }).text, "seen: rows of B")
  t.equal(#t.mcp_calls("db"), 2)
end)

t.case("one that is not active is not gone around", function(t)
  instead(t)
  t.command("/none")
  t.match(t.tool("mcp", { call = "db/query", arguments = { text = "a" } }).text, "may not be called here")
  t.equal(t.mcp_calls("db"), {})
end)
