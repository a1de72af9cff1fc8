-- What a case has: each function of pi.test at work.
local t = require "pi.test"
local json = require "pi.json"

local function removal(t)
  t.hook("gate.lua")
  t.file("notes.txt", "keep me")
  t.model { { tool = "bash", input = { command = "rm notes.txt" } }, "done" }
end

t.case("a call is blocked", function(t)
  removal(t)
  t.equal(t.prompt("clean up"), "done")
  t.blocked("bash", "needs a person")
  t.blocked("bash")
  t.equal(t.calls("bash"), { { name = "bash", input = { command = "rm notes.txt" }, ran = false, is_error = true, text = "needs a person" } })
  t.equal(t.read("notes.txt"), "keep me")
end)

t.case("a call runs", function(t)
  removal(t)
  t.answers { confirm = true }
  t.prompt("clean up")
  t.ran("bash")
  t.ran("bash", "notes")
  t.shown("Run?")
  t.shown("rm notes.txt")
  local text, err = t.read("notes.txt")
  t.equal({ text == nil, err }, { true, "notes.txt is not there" })
end)

t.case("flags are given", function(t)
  removal(t)
  t.flags { strict = true }
  t.prompt("clean up")
  t.blocked("bash", "strict")
end)

t.case("settings are in force", function(t)
  t.config { thinking = "low", tools = { active = { "read" } }, compaction = { enabled = false } }
  t.model { "x" }
  t.prompt("a")
  local request = t.requests()[1]
  t.equal({ request.model, request.thinking, request.tools }, { "test/model", "low", { "read" } })
  t.match(request.system, "pi")
  t.equal(request.messages[1].content[1].text, "a")
end)

t.case("the model answers with steps of all kinds", function(t)
  t.file("a.txt", "one")
  t.model {
    { thinking = "hm", text = "I look", tool = "read", input = { path = "a.txt" } },
    { calls = { { tool = "ls", input = {} }, { tool = "read", input = { path = "a.txt" }, id = "mine" } } },
    { error = "busy", status = 503 },
    function(request)
      local last = request.messages[#request.messages]
      return { text = "last was " .. last.tool_call_id, input_tokens = 5, output_tokens = 7 }
    end,
    { error = "no", status = 400 },
  }
  t.equal(t.prompt("go"), "last was mine")
  t.equal(#t.requests(), 4)
  t.ran("ls")
  local answer, err = t.prompt("again")
  t.equal(answer, nil)
  t.match(err, "HTTP 400: no")
end)

t.case("hooks see and change what is sent", function(t)
  t.hook("wire.lua")
  t.model { { error = "busy", status = 503 }, function(request) return "it is " .. request.payload.temperature end }
  t.equal(t.prompt("go"), "it is 0")
  local sent = t.requests()[2]
  t.equal({ sent.payload.temperature, sent.payload.model, sent.headers["X-Team"] }, { 0, "model", "blue" })
  t.shown("status 503")
  t.shown("status 200")
end)

t.case("what hooks finish at the end has its time", function(t)
  t.hook("end.lua")
  t.model { "a" }
  t.prompt("begin")
  t.reopen()
  local entries = t.entries()
  t.equal(entries[#entries].custom_type, "end_note")
  for _, notice in ipairs(t.notices()) do t.equal(notice.text:match("cut off"), nil) end
end)

t.case("the clock does not go beyond what it is set to", function(t)
  t.hook("end.lua")
  local began = t.clock.now()
  t.command("/nap")
  t.clock.advance(59999)
  t.equal({ #t.notices(), t.clock.now() - began }, { 0, 59999 })
  t.clock.advance(1)
  t.equal(t.notices()[1].text, "awake")
end)

t.case("dialogs are answered", function(t)
  t.hook("day.lua")
  t.answers { select = { "The b", { "x", "z" } }, input = function(title, placeholder) return title .. placeholder end, editor = "text" }
  t.equal(t.command("/ask"):match("b x%+z Name%?nobody text"), "b x+z Name?nobody text")
  t.answers(function(kind, title, options)
    if kind == "select" then return options[1] == "a" and "a" or nil end
  end)
  t.match(t.command("/ask"), "a  nil nil$")
end)

t.case("a component is played with", function(t)
  t.hook("day.lua")
  local lines
  t.answers { custom = function(view)
    t.equal(view.key("up", "up"), true)
    lines = view.lines()
    view.key("enter")
  end }
  t.match(t.command("/count"), "got 2$")
  t.equal(lines, { "n is 2" })
  t.answers { custom = function() end }
  t.match(t.command("/count"), "got nil$")
  t.equal(t.view(), nil)
end)

t.case("time goes by", function(t)
  t.hook("day.lua")
  t.equal(t.entries(), {})
  local over = t.events { "day:over" }
  t.clock.advance(59999)
  t.equal(#over, 0)
  t.clock.advance(1)
  t.equal(over, { { type = "day:over", data = { ticks = 60 } } })
  t.equal(t.notices()[2], { level = "warning", text = "over" })
  local now = t.command("/now")
  t.clock.advance(3600000)
  local before, later = tonumber(now:match("%d+")), tonumber(t.command("/now"):match("%d+"))
  t.ok(later - before >= 3600000 and later - before < 3660000, later - before)
end)

t.case("a hook is edited and the program opened again", function(t)
  t.hook("day.lua")
  t.model { "one", "two" }
  t.prompt("a")
  t.equal(t.status(), { day = "ready" })
  t.ok(t.edit_hook("day.lua", [[pi.command("hi", { handler = function() return { status = "hello" } end })]]))
  t.equal(t.command("/hi"), "hello")
  local ok, err = t.edit_hook("day.lua", "x = = 1")
  t.equal(ok, nil)
  t.match(err, "day.lua:1: syntax error")
  t.equal(t.command("/hi"), "hello")
  t.ok(t.edit_hook("day.lua", [[pi.on("session_start", function(e, ctx) ctx.ui.notify(e.reason .. " " .. #ctx.entries) end)]]))
  t.shown("reload")
  local before = #t.entries()
  t.reopen()
  t.shown("startup " .. before)
  t.equal(t.prompt("b"), "two")
end)

t.case("a module beside a hook is edited", function(t)
  t.hook("gate.lua")
  t.model { { tool = "bash", input = { command = "ls" } }, "done" }
  t.equal(t.entries(), {})
  t.raises(function() t.edit_hook("gate.lua/x.lua", "") end, "t.edit_hook: ")
  t.ok(t.edit_hook("lib/words.lua", [[return { dangerous = "^ls" }]]))
  t.prompt("look")
  t.blocked("bash")
end)

t.case("events are recorded as hooks get them", function(t)
  t.hook("gate.lua")
  local seen = t.events { "input", "tool_call", "agent_end" }
  t.model { { tool = "bash", input = { command = "rm x" } }, "done" }
  t.prompt("clean up")
  t.equal({ #seen, seen[1].type, seen[1].text, seen[2].tool_name, seen[2].input.command, seen[3].type },
    { 3, "input", "clean up", "bash", "rm x", "agent_end" })
end)

t.case("commands, keys, tools and the shell", function(t)
  t.hook("day.lua")
  t.env { DAY = "monday" }
  t.model { "said", "heard", "more" }
  t.command("/say 'a b'")
  t.equal(t.messages()[1].content[1].text, "say a b")
  t.command("/soon")
  t.equal(#t.requests(), 2)
  t.equal(t.command("/where"), "print false " .. require("pi.path").expand("~") .. " monday " .. t.dir())
  t.ok(t.key("f6"))
  t.shown("pressed")
  local ok, err = t.key("ctrl+j")
  t.match(err, 'no hook has the key "ctrl%+j"; taken are: f6')
  local result = t.tool("double", { n = 4 })
  t.equal({ result.text, result.details, result.is_error }, { "8", { twice = 8 }, false })
  t.equal(t.tool("double", { n = "x" }).is_error, true)
  t.equal(t.shell("echo hi; exit 3"), { output = "hi\n", exit_code = 3 })
  local shown, err = t.command("/nothing")
  t.match(err, "nothing")
end)

t.case("handlers that finish behind the agent have ended", function(t)
  t.hook("day.lua")
  t.model { "one" }
  t.prompt("a")
  local last = t.entries()[#t.entries()]
  t.equal({ last.custom_type, last.data }, { "day_note", { at = "the end" } })
end)

t.case("a hook of the project runs if it is approved", function(t)
  t.file(".pi/hooks/say.lua", 'pi.command("hi", { handler = function() return { status = "hello" } end })')
  t.approve()
  t.equal(t.command("/hi"), "hello")
end)

t.case("a hook of the project does not run otherwise", function(t)
  t.file(".pi/hooks/say.lua", 'pi.command("hi", { handler = function() return { status = "hello" } end })')
  local shown = t.command("/hi")
  t.equal(shown, nil)
  t.shown("1 hook of this project not run")
end)

t.case("what goes along with a prompt", function(t)
  t.file("a.txt", "in the file")
  t.model { "one" }
  t.prompt("look", { "a.txt", { text = "beside", name = "b" } })
  local sent = json.encode(t.requests()[1].messages)
  t.match(sent, "in the file")
  t.match(sent, "beside")
end)

t.case("values are compared by what is in them", function(t)
  t.equal({ 1, { a = "x" } }, { 1, { a = "x" } })
  t.raises(function() error("a word here") end, "word")
  t.equal(t.raises(function() error({}) end):sub(1, 5), "table")
  t.match("a b", "^%a %a$")
  t.equal(t.ok(4), 4)
end)

t.case("two hooks in their order", function(t)
  t.hook("gate.lua")
  t.hook("day.lua")
  t.equal(t.command("/where"):match("^print"), "print")
end)

t.case("a test can be a server, and read what one sends while it comes", function(t)
  local http = require "pi.http"
  local server = http.listen({}, function() return { headers = { ["Content-Type"] = "text/event-stream" }, body = "data: one\n\ndata: two\n\n" } end)
  local heard = {}
  t.ok(http.events { url = server.url, on_event = function(e) heard[#heard + 1] = e.data end })
  t.equal(heard, { "one", "two" })
  t.raises(function() http.stream { url = server.url, on_chunk = function() error("boom") end } end, "stream: on_chunk: ")
  t.raises(function() require("pi.llm").stream(nil, {}) end, "a test asks no model")
end)

t.case("there is no network but this machine", function(t)
  local http = require "pi.http"
  t.hook("reach.lua")
  t.match(t.command("/reach http://example.invalid/x"), "a test has no network")
  t.match(t.command("/reach http://192.0.2.1/"), "a test has no network")
  local server = http.listen({}, function(request) return { status = 302, headers = { Location = "http://example.invalid/y" } } end)
  t.match(t.command("/reach " .. server.url), "a test has no network")
  local r, why = http.get("http://example.invalid/z")
  t.equal(r, nil)
  t.match(why, "a test has no network")
end)
