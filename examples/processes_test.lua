-- Tests of processes.lua: pi test examples/processes_test.lua

local t = require "pi.test"

local function call(t, input) return t.tool("process", input).text end

t.case("a command is started, read and waited for", function(t)
  t.hook("processes.lua")
  t.equal(call(t, { action = "list" }), "nothing was started")
  t.equal(call(t, { action = "start", command = "echo one; echo two >&2; exit 3" }), "started as 1")
  local said = call(t, { action = "wait", id = "1" })
  t.match(said, "1  exit status 3")
  t.match(said, "one")
  t.match(said, "two")
  t.equal(call(t, { action = "read", id = "1", lines = 0 }), "1  exit status 3  echo one; echo two >&2; exit 3\n")
end)

t.case("a command that goes on is stopped, by the model and by the user", function(t)
  t.hook("processes.lua")
  call(t, { action = "start", command = "exec sleep 600" })
  call(t, { action = "start", command = "exec sleep 601" })
  t.match(t.command("/ps"), "1  running  exec sleep 600\n2  running  exec sleep 601")
  t.match(call(t, { action = "stop", id = "1" }), "1  ended by TERM")
  t.match(t.command("/ps stop 2"), "2  ended by TERM")
end)

t.case("/ps shows them as they go on, what one prints and how it ends", function(t)
  t.hook("processes.lua")
  t.answers { custom = function(view)
    view.key("down")
    while view.lines(60)[4] ~= "  │ hello" do end
    t.equal(view.lines(60), {
      "Commands in the background",
      "  1  running  exec sleep 600",
      "▸ 2  running  echo hello; exec sleep 601",
      "  │ hello",
      "  Enter shows all it printed · Del ends it · Esc",
    })
    view.key("delete")
    t.equal(view.lines(60)[3], "▸ 2  ended by TERM  echo hello; exec sleep 601")
    t.ok(not view.key("x")) -- is left to the line
    view.key("enter")
  end }
  call(t, { action = "start", command = "exec sleep 600" })
  call(t, { action = "start", command = "echo hello; exec sleep 601" })
  t.match(t.command("/ps"), "2  ended by TERM  echo hello; exec sleep 601\nhello")
end)

t.case("what changes meanwhile is in the list a second later", function(t)
  t.hook("processes.lua")
  t.answers { custom = function(view)
    t.match(view.lines(60)[2], "running")
    t.file("go", "")
    t.soon(function()
      t.clock.advance(1000)
      return view.lines(60)[2]:find("exit status 0", 1, true) ~= nil
    end)
  end }
  call(t, { action = "start", command = "until [ -e go ]; do sleep 0.01; done" })
  t.command("/ps")
end)

t.case("a line that fits wakes the agent, and so does the end", function(t)
  t.hook("processes.lua")
  t.model { "I have seen the failure", "and the end" }
  call(t, { action = "start", command = "echo fine; echo FAIL: two", watch = "^FAIL" })
  call(t, { action = "wait", id = "1" })
  t.command("/ps") -- waits for the answers
  local told = {}
  for _, message in ipairs(t.messages()) do
    if message.role == "custom" then told[#told + 1] = message.content end
  end
  t.equal(told, {
    "Command 1 in the background (echo fine; echo FAIL: two) printed: FAIL: two",
    "Command 1 in the background (echo fine; echo FAIL: two) has ended: exit status 0",
  })
end)

t.case("it survives that the hook is loaded anew, with what it printed", function(t)
  t.hook("processes.lua")
  call(t, { action = "start", command = "echo before; until [ -e go ]; do sleep 0.01; done; echo after" })
  while not call(t, { action = "read", id = "1" }):find("\nbefore", 1, true) do end
  t.command("/reload")
  t.match(t.command("/ps"), "1  running")
  t.file("go", "")
  t.match(call(t, { action = "wait", id = "1" }), "before\nafter")
  t.match(t.command("/ps 1"), "exit status 0")
end)

t.case("what is wrong is said", function(t)
  t.hook("processes.lua")
  t.match(call(t, { action = "read", id = "7" }), "no command has the id 7")
  t.match(call(t, { action = "start" }), "command is missing")
  t.match(t.command("/ps stop 9"), "no command has the id 9; /ps lists them")
  t.match(t.command("/ps 9"), "no command has the id 9")
  t.match(t.command("/ps"), "nothing was started")
  t.match(call(t, { action = "start", command = "true", watch = "(" }), "missing closing")
end)
