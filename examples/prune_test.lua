-- Tests of prune.lua: pi test examples/prune_test.lua

local t = require "pi.test"
local text = require "pi.text"

local function reads(n)
  local calls = {}
  for i = 1, n do calls[i] = { tool = "read", input = { path = i .. ".txt" } } end
  return { calls = calls }
end

local function outputs(request)
  local gone, there = 0, 0
  for _, message in ipairs(request.messages) do
    if message.role == "toolResult" then
      if text.of(message):find("old output of read removed", 1, true) then gone = gone + 1 else there = there + 1 end
    end
  end
  return { gone, there }
end

local function project(t, bytes)
  t.hook("prune.lua")
  for i = 1, 21 do t.file(i .. ".txt", ("x"):rep(bytes)) end
end

t.case("when twenty large outputs are there, the ten oldest go", function(t)
  project(t, 600)
  t.model { reads(19), "done", { tool = "read", input = { path = "20.txt" } }, "done" }
  t.prompt("read")
  t.equal(outputs(t.requests()[2]), { 0, 19 })
  t.prompt("one more")
  t.equal(outputs(t.requests()[4]), { 10, 10 })
end)

t.case("small outputs stay", function(t)
  project(t, 100)
  t.model { reads(21), "done" }
  t.prompt("read")
  t.equal(outputs(t.requests()[2]), { 0, 21 })
end)

t.case("a resumed session remembers what is gone", function(t)
  project(t, 600)
  t.model { reads(20), "done", "again" }
  t.prompt("read")
  t.reopen()
  t.prompt("and?")
  t.equal(outputs(t.requests()[3]), { 10, 10 })
end)
