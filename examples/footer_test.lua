-- Tests of footer.lua: pi test examples/footer_test.lua

local t = require "pi.test"

local function begin(t)
  t.hook("footer.lua")
  t.answers {}
  t.shell("git init -q -b master")
end

local answer = { text = "done", input_tokens = 67900, output_tokens = 100 }

t.case("as much is shown as there is room for, and the last of it goes first", function(t)
  begin(t)
  t.model { answer }
  t.prompt("go")
  for width, want in pairs {
    [200] = "model:medium · 68k of 200k · $0.068 · master",
    [44] = "model:medium · 68k of 200k · $0.068 · master",
    [43] = "model:medium · 68k of 200k · $0.068",
    [34] = "model:medium · 68k of 200k",
    [25] = "model:medium",
    [11] = "model:medi…",
  } do
    t.equal(t.footer(width), { want }, "at " .. width)
  end
end)

t.case("another model or level is shown at once", function(t)
  begin(t)
  t.match(t.footer()[1], "^model:medium · ")
  t.command("/thinking high")
  t.match(t.footer()[1], "^model:high · ")
end)

t.case("a new session has spent nothing", function(t)
  begin(t)
  t.model { answer }
  t.prompt("go")
  t.match(t.footer()[1], "%$")
  t.command("/new")
  t.ok(not t.footer()[1]:find("%$"))
end)
