-- The specs of the modules in hooks that run as always: pi test stdlib/spec

local t = require "pi.test"

for name in ("base64 diff fs git hash html http json path re schema sh text time timer toml"):gmatch("%S+") do
  t.case("pi." .. name, function(t)
    t.hook("spec.lua")
    t.equal(t.ok(t.command("/spec " .. name)), name .. " is as its spec says")
  end)
end

-- What the spec of pi.llm is given answers by itself; this is a real one with a model.
t.case("pi.llm", function(t)
  t.hook("llm.lua")
  t.model { { thinking = "hm", text = "an answer" }, { text = "in pieces" }, { error = "no", status = 400 } }
  t.match(t.command("/complete"), "^an answer")
  t.match(t.command("/stream"), "^in |pieces|in pieces")
  t.match(t.command("/complete"), "HTTP 400: no")
  t.equal(t.requests()[1].system, "Be short.")
end)

-- So it is with pi.mcp; here the servers are played, and a gate is asked.
t.case("pi.mcp", function(t)
  t.hook("mcp.lua")
  t.mcp { name = "db", configured = false, tools = { echo = function(args) return args.text end } }
  t.equal(t.command("/echo hi"), "hi")
  t.equal(t.command("/echo secret"), "not that")
  t.equal(t.mcp_calls("db")[1].tool, "echo")
  t.equal(#t.mcp_calls("db"), 1)
  t.equal(t.command("/leave"), "closed")
end)

-- And with pi.agent; here agents are played.
t.case("pi.agent", function(t)
  t.hook("agent.lua")
  t.agent { name = "bob", answers = {
    "an answer", { value = { n = 1 }, text = "one" }, { error = "it broke" }, { stop_reason = "limit", error = "no turns left" },
    function(asked) return asked.prompt .. #asked.tools end, function() return nil, "not today" end, { refuse = "too deep" },
  } }
  t.equal(t.command("/ask bob a"), "completed: an answer")
  t.equal(t.command("/ask bob a"), 'completed: one{"n":1}')
  t.equal(t.command("/ask bob a"), "error: it broke")
  t.equal(t.command("/ask bob a"), "limit: no turns left")
  t.equal(t.command("/ask bob hello"), "completed: hello0")
  t.equal(t.command("/ask bob a"), "error: not today")
  t.equal(t.command("/ask bob a"), "nil too deep")
  t.equal(#t.agent_calls("bob"), 7)
  local asked = t.agent_calls()[5]
  t.equal({ asked.hook, asked.name, asked.prompt, asked.timeout, asked.tools, asked.played }, { "agent", "bob", "hello", 200, {}, true })
end)

t.case("agents beside each other", function(t)
  t.hook("agent.lua")
  t.agent { answers = { { waits = true } } }
  t.agent { name = "left", answers = { "port" } }
  t.agent { name = "right", answers = { "starboard" } }
  t.equal(t.command("/beside"), "port starboard")
  t.equal(t.command("/start x y"), "aborted: aborted")
  t.equal(t.agent_calls("x")[1].steers, { "to the left" })
end)

t.case("an agent that waits ends at its time", function(t)
  t.hook("agent.lua")
  t.agent { answers = { { waits = true } } }
  t.match(t.command("/ask a b"), "^timeout: ")
end)

t.case("an agent that nobody plays asks the model", function(t)
  t.hook("agent.lua")
  t.model { { tool = "ls", input = {} }, "by the model" }
  t.match(t.command("/seen look"), "^by the model after .*agent_start.* turn_start .*tool_execution_end.*agent_end")
  t.equal(t.agent_calls()[1].played, false)
  t.equal(#t.requests(), 2)
end)
