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
