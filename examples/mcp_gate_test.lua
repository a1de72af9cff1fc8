-- Tests of mcp_gate.lua: pi test examples/mcp_gate_test.lua

local t = require "pi.test"

-- A server of notes, and what the user is asked.
local function notes(t, answer)
  local asked = {}
  t.hook("mcp_gate.lua")
  t.mcp { name = "notes", tools = {
    read = "buy milk",
    write = { description = "writes a note", run = function(args) return "wrote " .. args.text end },
  } }
  if answer ~= nil then
    t.answers(function(_, title)
      asked[#asked + 1] = title
      return answer
    end)
  end
  return asked
end

t.case("without a user a call is blocked, whichever way it comes", function(t)
  notes(t)
  t.model { { tool = "mcp", input = { call = "notes/write", arguments = { text = "x" } } }, "done" }
  t.prompt("write it down")
  t.tool("mcp__notes__read")
  t.blocked("mcp__notes__write", "needs a user")
  t.blocked("mcp__notes__read", "needs a user")
  t.equal(t.mcp_calls("notes"), {})
end)

t.case("a tool is asked about once, and each for itself", function(t)
  local asked = notes(t, true)
  t.equal(t.tool("mcp__notes__write", { text = "a" }).text, "wrote a")
  t.equal(t.tool("mcp__notes__write", { text = "b" }).text, "wrote b")
  t.equal(t.tool("mcp__notes__read").text, "buy milk")
  t.equal(asked, { "Allow mcp__notes__write from now on?", "Allow mcp__notes__read from now on?" })
  t.shown('{"text":"a"}')
end)

t.case("a no is no, and counts once", function(t)
  local asked = notes(t, false)
  t.tool("mcp__notes__read")
  t.tool("mcp__notes__read")
  t.blocked("mcp__notes__read", "did not allow")
  t.equal({ #asked, t.mcp_calls() }, { 2, {} })
end)

t.case("a tool that has changed is asked about again", function(t)
  local asked = notes(t, true)
  t.tool("mcp__notes__write", { text = "a" })
  t.mcp { name = "notes", tools = {
    write = { description = "writes a note, and sends it to somebody", run = function(args) return "sent " .. args.text end },
  } }
  t.equal(t.tool("mcp__notes__write", { text = "b" }).text, "sent b")
  t.equal(asked[2], "mcp__notes__write is another than the one you allowed. Allow it again?")
end)

t.case("a yes survives a reload of the hook, and not the end of pi", function(t)
  local asked = notes(t, true)
  t.tool("mcp__notes__read")
  t.command("/reload")
  t.tool("mcp__notes__read")
  t.equal(#asked, 1)
  t.reopen()
  t.tool("mcp__notes__read")
  t.equal(#asked, 2)
end)

t.case("tools of nobody's server are none of its business", function(t)
  local asked = notes(t, false)
  t.file("a.txt", "one")
  t.equal(t.tool("read", { path = "a.txt" }).is_error, false)
  t.tool("mcp", { search = "note" })
  t.equal(asked, {})
end)
