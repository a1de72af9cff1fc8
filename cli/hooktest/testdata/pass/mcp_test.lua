-- Servers that are played: each field of t.mcp at work.
local t = require "pi.test"
local schema = require "pi.schema"

local function db(t, more)
  local options = {
    name = "db", description = "the data of the shop",
    tools = {
      echo = {
        description = "Says a text back", parameters = schema.object { text = schema.string("what to say") },
        annotations = { read_only = true, open_world = false }, run = function(args, call) return call.server .. "/" .. call.tool .. ": " .. args.text end,
      },
      drop = function() return "dropped" end,
      secret = "42",
    },
  }
  for name, value in pairs(more or {}) do options[name] = value end
  t.mcp(options)
end

t.case("the model searches, describes and calls", function(t)
  db(t)
  t.hook("servers.lua")
  local calls = t.events { "servers:call" }
  t.model {
    { tool = "mcp", input = { search = "say back" } }, { tool = "mcp", input = { describe = "db/echo" } },
    { calls = {
      { tool = "mcp", input = { call = "db/echo", arguments = { text = "hi" } } },
      { tool = "mcp", input = { call = "db/echo", arguments = { text = "rewrite me" } } },
      { tool = "mcp", input = { call = "db/drop" } },
      { tool = "mcp", input = { call = "db/secret" } },
      { tool = "mcp", input = { call = "db/echo", arguments = { text = 7 } } },
    } }, "done",
  }
  t.equal(t.prompt("go"), "done")
  t.match(t.requests()[1].system, "%- db: the data of the shop")
  local told = t.calls("mcp")
  t.match(told[1].text, "^db/echo: Says a text back")
  t.match(told[2].text, "what to say")
  t.equal(t.calls("mcp__db__echo")[1].text, "db/echo: hi")
  t.blocked("mcp__db__drop", "nothing is dropped")
  t.blocked("mcp__db__echo", "text")
  t.match(t.messages()[10].content[1].text, "covered")
  t.equal(calls[1].data, { name = "mcp__db__echo", mcp = { "db", "echo", "mcp" }, definition = 64, read_only = true, claimed = true })
  local reached = t.mcp_calls("db")
  table.sort(reached, function(a, b) return a.tool .. (a.input.text or "") < b.tool .. (b.input.text or "") end)
  t.equal(reached, {
    { server = "db", tool = "echo", input = { text = "hi" }, answers = {} }, { server = "db", tool = "echo", input = { text = "rewritten" }, answers = {} },
    { server = "db", tool = "secret", input = {}, answers = {} },
  })
end)

t.case("exposures", function(t)
  db(t, { exposure = "direct" })
  t.mcp { name = "other", trust_annotations = true, tools = { a = "x", b = { exposure = "direct", run = "y", annotations = { read_only = true } }, c = { exposure = "off", run = "z" } } }
  t.hook("servers.lua")
  local calls = t.events { "servers:call" }
  t.model { { calls = { { tool = "mcp__db__echo", input = { text = "a" } }, { tool = "mcp__other__b" }, { tool = "mcp", input = { call = "other/c" } } } }, "done" }
  t.prompt("go")
  local tools = " " .. table.concat(t.requests()[1].tools, " ") .. " "
  for _, name in ipairs { "mcp", "mcp__db__echo", "mcp__db__secret", "mcp__other__b" } do t.ok(tools:find(" " .. name .. " ", 1, true), name) end
  t.equal(tools:find("other__[ac]"), nil)
  t.equal({ calls[1].data.mcp[3], calls[2].data.read_only, calls[2].data.claimed }, { "direct", true, false })
  t.equal({ #t.mcp_calls("db"), #t.mcp_calls("other"), #t.mcp_calls() }, { 1, 1, 2 })
end)

t.case("results of every kind", function(t)
  t.mcp { name = "r", tools = {
    text = "plain", empty = {}, fails = { content = "broken", is_error = true },
    blocks = { content = { { type = "text", text = "a" }, { type = "image", data = "aGk=", mime_type = "image/png" } } },
    structured = function() return { structured = { sum = 3 } } end,
    says_no = function() return nil, "not today" end,
  } }
  local function call(tool) return t.tool("mcp", { call = "r/" .. tool }) end
  t.equal(call("text").text, "plain")
  t.equal(call("empty").is_error, false)
  t.equal({ call("fails").text, call("fails").is_error }, { "broken", true })
  t.equal(call("blocks").content[2].type, "image")
  t.equal({ call("structured").text, call("structured").details.structuredContent }, { '{"sum":3}', { sum = 3 } })
  t.equal({ call("says_no").text, call("says_no").is_error }, { "not today", true })
end)

t.case("a server asks the user", function(t)
  db(t, { elicit = {
    drop = { "Drop it all?", { message = "Which stage?", schema = schema.object { stage = schema.enum { "test", "live" }, note = schema.optional(schema.string()) } } },
    secret = { message = "Sign this", url = "https://example.com/sign" },
  } })
  t.answers { select = { "yes", "answer", "live", "no" }, input = "now" }
  t.equal(t.tool("mcp", { call = "db/drop" }).text, "dropped")
  t.tool("mcp", { call = "db/secret" })
  t.equal(t.mcp_calls()[1].answers, { { action = "accept" }, { action = "accept", values = { stage = "live", note = "now" } } })
  t.equal(t.mcp_calls()[2].answers, { { action = "decline" } })
  t.shown("MCP server db: Which stage?")
  t.shown("https://example.com/sign")
end)

t.case("nobody is there to answer a server", function(t)
  db(t, { elicit = { echo = "Really?" } })
  t.match(t.tool("mcp", { call = "db/echo", arguments = { text = "a" } }).text, "db/echo: a.*the server asked the user: \"Really%?\"; there was no answer")
  t.equal(t.mcp_calls("db")[1].answers, { { action = "cancel" } })
end)

t.case("a tool works with what the user said", function(t)
  t.mcp { name = "s", tools = { go = function(_, call) return call.answers[1].action .. " " .. tostring(call.answers[1].values.sure) end },
    elicit = { go = { message = "Sure?", schema = { properties = { sure = { type = "boolean" } }, required = { "sure" } } } } }
  t.answers { select = "yes" }
  t.equal(t.tool("mcp", { call = "s/go" }).text, "accept true")
end)

t.case("a server dies, and is started again", function(t)
  db(t, { dies_after = 2 })
  local function call() return t.tool("mcp", { call = "db/secret" }) end
  t.equal({ call().text, call().text }, { "42", "42" })
  local died = call()
  t.match(died.text, "server db: it ended the connection")
  t.equal(died.is_error, true)
  t.equal(call().text, "42")
  t.equal(#t.mcp_calls("db"), 4)
  t.soon(function() return #t.notices() > 0 end)
  t.match(t.notices()[1].text, "MCP server db: it ended the connection")
end)

t.case("a server that always dies is given up", function(t)
  db(t, { dies_after = 0 })
  for _ = 1, 4 do t.equal(t.tool("mcp", { call = "db/secret" }).is_error, true) end
  t.match(t.tool("mcp", { call = "db/secret" }).text, "started 4 times within a minute")
end)

t.case("another version of a server that runs is seen", function(t)
  db(t)
  t.equal(t.tool("mcp", { call = "db/secret" }).text, "42")
  t.mcp { name = "db", tools = { secret = { description = "sends it away", run = "43" }, new = "n" } }
  t.match(t.notices()[1].text, "MCP server db: the tool secret is another")
  t.equal({ t.tool("mcp", { call = "db/secret" }).text, t.tool("mcp", { call = "db/new" }).text }, { "43", "n" })
  t.match(t.tool("mcp", { call = "db/drop" }).text, "no tool \"drop\"")
end)

t.case("a tool that became another since its call was decided about is not called", function(t)
  db(t)
  t.tool("mcp", { call = "db/secret" })
  t.reopen()
  t.mcp { name = "db", tools = { secret = { description = "sends it away", run = "43" } } }
  t.match(t.tool("mcp", { call = "db/secret" }).text, "is another than when this call was decided about")
  t.equal(t.tool("mcp", { call = "db/secret" }).text, "43")
  t.equal(#t.mcp_calls("db"), 2)
end)

t.case("settings say what becomes of tools that changed", function(t)
  db(t)
  t.config { mcp = { on_change = "ask" } }
  t.tool("mcp", { call = "db/secret" })
  t.mcp { name = "db", tools = { secret = { description = "sends it away", run = "43" } } }
  t.match(t.tool("mcp", { call = "db/secret" }).text, "is not called")
  t.answers { confirm = true }
  t.equal(t.tool("mcp", { call = "db/secret" }).text, "43")
  t.shown("sends it away")
end)

t.case("nothing is started that a file has configured", function(t)
  local started = t.dir() .. "/started"
  local server = ([[{ "mcpServers": { "real": { "command": "touch", "args": ["%s"] } } }]]):format(started)
  t.file("~/.pi/agent/mcp.json", server)
  t.file(".mcp.json", server)
  t.approve()
  db(t)
  t.match(t.tool("mcp", { call = "real/x" }).text, "there is no server \"real\"; there are db")
  t.equal(t.command("/mcp"):find("real", 1, true), nil)
  t.equal(t.read("started"), nil)
end)

t.case("servers can be left out", function(t)
  db(t)
  t.config { mcp = { enabled = false } }
  t.model { "a" }
  t.prompt("go")
  t.equal(table.concat(t.requests()[1].tools, " "):find("mcp"), nil)
end)

t.case("a server that no session has from its start", function(t)
  db(t, { configured = false })
  t.model { "a" }
  t.prompt("go")
  t.equal(table.concat(t.requests()[1].tools, " "):find("mcp"), nil)
  db(t, { configured = false, tools = { other = "x" } })
end)

t.case("what is wrong is said with its field", function(t)
  local function wrong(options, part)
    t.raises(function() t.mcp(options) end, part)
  end
  local function tool(of) return { name = "a", tools = { x = of } } end
  local function question(of) return { name = "a", tools = { x = "r" }, elicit = { x = of } } end
  wrong({ tools = {} }, "t.mcp: option \"name\" is missing")
  wrong({ name = "a" }, "t.mcp: option \"tools\" is missing")
  wrong({ name = "a__b", tools = {} }, "t.mcp: name: ")
  wrong({ name = "a", tool = {}, tools = {} }, "t.mcp: unknown option \"tool\", did you mean \"tools\"?")
  wrong({ name = "a", tools = { "x" } }, "t.mcp: tools: 1 is no name of a tool")
  wrong({ name = "a", tools = {}, exposure = "some" }, "t.mcp: exposure \"some\"")
  wrong({ name = "a", tools = {}, dies_after = 1.5 }, "t.mcp: dies_after: 1.5")
  wrong({ name = "a", tools = {}, dies_after = -1 }, "t.mcp: dies_after: -1")
  wrong({ name = "a", tools = {}, dies_after = "one" }, "t.mcp: option \"dies_after\"")
  wrong(tool(7), "t.mcp: tools.x: a result is a text or a table such as")
  wrong(tool { descripton = "a" }, "t.mcp: tools.x: unknown option \"descripton\", did you mean \"description\"?")
  wrong(tool { content = "a", description = "b" }, "t.mcp: tools.x: unknown option \"description\"; it has content, structured, is_error")
  wrong(tool { content = { { type = "video" } } }, "t.mcp: tools.x: content[1]: a result has text and images")
  wrong(tool { content = 7 }, "t.mcp: tools.x: content: ")
  wrong(tool { run = 7 }, "t.mcp: tools.x: run: a result")
  wrong(tool { exposure = "some" }, "t.mcp: tools.x: exposure \"some\"")
  wrong(tool { parameters = { text = { type = "string" } } }, "t.mcp: tools.x: parameters: ")
  wrong(tool { annotations = { readonly = true } }, "t.mcp: tools.x: annotations: unknown option \"readonly\"")
  wrong({ name = "a", tools = { x = "r" }, elicit = { y = "q" } }, "t.mcp: elicit.y: the server has no such tool")
  wrong(question(7), "t.mcp: elicit.x: a question is a text or a table")
  wrong(question { "one", {} }, "t.mcp: elicit.x[2]: option \"message\" is missing")
  wrong(question { message = "q", schema = {}, url = "u" }, "t.mcp: elicit.x: a question has a schema or a url")
  db(t)
  t.raises(function() t.mcp_calls("dp") end, "t.mcp_calls: no server \"dp\" is played, did you mean \"db\"?")
  t.command("/session")
  t.raises(function() t.mcp { name = "late", tools = {} } end, "t.mcp: the run has begun")
end)

t.case("a refresh keeps the servers of the case", function(t)
  db(t)
  t.equal(t.command("/mcp refresh"), "db: 3 tools")
  t.equal(t.command("/mcp refresh db"), "db: 3 tools")
end)
