local t = require "pi.test"

-- A file that is made by one prompt and changed by the next, together with another.
local function two_prompts(t)
  t.hook("rewind.lua")
  t.model {
    { tool = "write", input = { path = "a.txt", content = "one\n" } }, "made",
    {
      calls = {
        { tool = "edit", input = { path = "a.txt", old_text = "one", new_text = "two" } },
        { tool = "write", input = { path = "sub/b.txt", content = "b\n" } },
      },
    }, "changed", "third",
  }
  t.prompt("make a")
  t.prompt("change a")
end

-- Answers the list of prompts, and what goes back.
local function choose(t, prompt, what)
  t.answers(function(_, title) return title == "What goes back?" and what or prompt end)
end

t.case("conversation and files go back", function(t)
  two_prompts(t)
  choose(t, "change a", "conversation and files")
  t.match(t.command("/rewind"), "2 files restored")
  t.equal(t.read("a.txt"), "one\n")
  t.equal(t.read("sub/b.txt"), nil)
  t.prompt("something else")
  local said = {}
  for _, message in ipairs(t.messages()) do
    if message.role == "user" then said[#said + 1] = message.content[1].text end
  end
  t.equal(said, { "make a", "something else" })
end)

t.case("to before the first prompt", function(t)
  two_prompts(t)
  choose(t, "make a", "conversation and files")
  t.command("/rewind")
  t.equal(t.read("a.txt"), nil)
end)

t.case("Esc twice does the same, and the prompt is in the line again", function(t)
  two_prompts(t)
  choose(t, "change a", "conversation and files")
  t.key("esc esc")
  t.shown("2 files restored")
  t.equal(t.typed(), "change a")
end)

t.case("the conversation alone goes back", function(t)
  two_prompts(t)
  choose(t, "change a", "conversation only")
  t.command("/rewind")
  t.equal(t.read("a.txt"), "two\n")
  t.equal(#t.messages(), 4)
end)

t.case("the files alone go back, and come back", function(t)
  two_prompts(t)
  t.file("a.txt", "by hand\n") -- what the user wrote meanwhile is not lost
  choose(t, "change a", "files only")
  t.command("/rewind")
  t.equal(t.read("a.txt"), "one\n")
  t.equal(#t.messages(), 9)
  choose(t, "(bring back the files of before the rewind)")
  t.match(t.command("/rewind"), "2 files restored")
  t.equal(t.read("a.txt"), "by hand\n")
  t.equal(t.read("sub/b.txt"), "b\n")
end)

t.case("copies are there when the session is resumed", function(t)
  two_prompts(t)
  t.reopen()
  choose(t, "change a", "conversation and files")
  t.match(t.command("/rewind"), "2 files restored")
  t.equal(t.read("a.txt"), "one\n")
end)

t.case("a call that failed or was blocked leaves no copy", function(t)
  t.hook("rewind.lua")
  t.file("a.txt", "one\n")
  t.model { { tool = "edit", input = { path = "a.txt", old_text = "nothing like it", new_text = "x" } }, "no" }
  t.prompt("change a")
  for _, entry in ipairs(t.entries()) do t.ok(entry.type ~= "rewind_copy") end
end)

t.case("copies that are older than a month go", function(t)
  t.hook("rewind.lua")
  t.file("~/.pi/agent/rewind/new", "new\n")
  t.file("~/.pi/agent/rewind/old", "old\n")
  t.tool("bash", { command = "touch -t 202001010000 ~/.pi/agent/rewind/old" })
  t.clock.advance(2000)
  t.equal(t.read("~/.pi/agent/rewind/old"), nil)
  t.equal(t.read("~/.pi/agent/rewind/new"), "new\n")
end)
