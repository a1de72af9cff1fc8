local t = require "pi.test"

t.case("equal", function(t) t.equal({ 1, a = "x" }, { 2 }) end)
t.case("match", function(t) t.match("abc", "^b", "the beginning") end)
t.case("ok", function(t) t.ok(nil, "no such thing") end)
t.case("read", function(t) t.ok(t.read("x.txt")) end)
t.case("fail", function(t) t.fail("not yet") end)
t.case("raises", function(t) t.raises(function() end, "x") end)
t.case("shown", function(t) t.shown("x") end)
t.case("blocked", function(t)
  t.model { { tool = "ls", input = {} }, "done" }
  t.prompt("look")
  t.blocked("ls", "no")
end)
t.case("ran", function(t) t.ran("bash") end)
t.case("no step", function(t)
  t.model { { tool = "ls", input = {} } }
  t.prompt("look")
end)
t.case("no answer", function(t)
  t.hook("asks.lua")
  t.answers { input = "x" }
  t.model { { tool = "ls", input = {} }, "done" }
  t.prompt("look")
end)
t.case("a check that is caught", function(t)
  pcall(t.equal, 1, 2)
end)
t.case("a word that is none", function(t) t.prompts("x") end)
t.case("a hook that does not load", function(t)
  t.hook("broken.lua")
  t.prompt("x")
end)
t.case("a setting that is none", function(t)
  t.config { thinkin = "low" }
  t.prompt("x")
end)
t.case("an event that is none", function(t) t.events { "tool_cal" } end)
t.case("a loop in the test", function() while true do end end)
t.case("a loop in a hook", function(t)
  t.hook("loops.lua")
  t.model { { tool = "ls", input = {} }, "done" }
  t.prompt("x")
  t.ran("ls")
end)
t.case("an error", function() error("here") end)
t.case("a setting too late", function(t)
  t.model { "x" }
  t.prompt("x")
  t.config {}
end)
t.case("a tool of a server that raises", function(t)
  t.mcp { name = "s", tools = { go = function(args) error("no " .. args.what) end } }
  t.tool("mcp", { call = "s/go", arguments = { what = "way" } })
end)
t.case("a tool of a server that gives nothing", function(t)
  t.mcp { name = "s", tools = { go = { run = function() return { text = "a" } end } } }
  t.tool("mcp", { call = "s/go" })
end)
t.case("a question of a server that nobody answers", function(t)
  t.mcp { name = "s", tools = { go = "done" }, elicit = { go = "Sure?" } }
  t.answers { input = "x" }
  t.tool("mcp", { call = "s/go" })
end)
t.case("a question of a server that is none", function(t)
  t.mcp { name = "s", tools = { go = "done" }, elicit = { go = { message = "Where?", schema = { properties = { at = { type = "object", properties = { x = { type = "string" } } } } } } } }
  t.answers { input = "x" }
  t.tool("mcp", { call = "s/go" })
end)
t.case("a component that cannot be drawn", function(t)
  t.hook("draws.lua")
  t.answers {}
  t.command("/draw")
  t.view().lines()
end)
t.case("an agent for which there is no answer", function(t)
  t.hook("uses.lua")
  t.agent { name = "bob", answers = { "one" } }
  t.command("/use once")
  t.command("/use again")
end)
t.case("an agent whose answer raises", function(t)
  t.hook("uses.lua")
  t.agent { answers = { function(asked) error("no " .. asked.prompt) end } }
  t.command("/use way")
end)
t.case("an agent whose answer is none", function(t)
  t.hook("uses.lua")
  t.agent { answers = { { stop_reason = "don" } } }
end)
t.case("an address without a browser", function(t)
  t.hook("signs.lua")
  t.answers {}
  t.command("/login page")
end)
t.case("a browser that raises", function(t)
  t.hook("signs.lua")
  t.browser(function() error("no page") end)
  t.command("/login page")
end)
t.case("a server that raises", function(t)
  local http = require "pi.http"
  local server = t.http { ["/x"] = function(request) error("no " .. request.query.what) end }
  http.get(server.url .. "/x?what=way")
end)
t.case("a server that gives nothing", function(t)
  local http = require "pi.http"
  local server = t.http { ["/x"] = function() return { text = "a" } end }
  http.get(server.url .. "/x")
end)
