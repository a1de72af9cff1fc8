-- Tests of NAME.lua. The model is a script here, and so is the user; each case has a folder of
-- its own.

local t = require "pi.test"

local function removal(t, command)
  t.hook("NAME.lua")
  t.file("notes.txt", "keep me")
  t.model { { tool = "bash", input = { command = command or "ls | xargs rm" } }, "done" }
end

t.case("without a user it does not run", function(t)
  removal(t)
  t.prompt("clean up")
  t.blocked("bash", "rm removes files")
  t.equal(t.read("notes.txt"), "keep me")
end)

t.case("the user says no", function(t)
  removal(t)
  t.answers { confirm = false }
  t.prompt("clean up")
  t.blocked("bash", "did not allow")
end)

t.case("the user says yes", function(t)
  removal(t)
  t.answers { confirm = true }
  t.prompt("clean up")
  t.ran("bash")
  t.equal(t.read("notes.txt"), nil)
end)

for _, line in ipairs {
  { "/bin/rm notes.txt", "rm removes" },
  { "sudo rm notes.txt", "rm removes" },
  { "unlink notes.txt", "unlink removes" },
  { "find . -name notes.txt -delete", "find -delete removes" },
  { "X=rm; $X notes.txt", "cannot be known" },
  { "$(echo rm) notes.txt", "cannot be known" },
  { "echo 'rm notes.txt' | sh", "cannot be known" },
  { "rm 'notes.txt", "a user has to allow this" }, -- no shell syntax
} do
  local command, why = line[1], line[2]
  t.case("it is seen in " .. command, function(t)
    removal(t, command)
    t.prompt("clean up")
    t.blocked("bash", why)
    t.equal(t.read("notes.txt"), "keep me")
  end)
end

t.case("everything else runs unasked", function(t)
  removal(t, "echo rm; find . -name notes.txt; cat ./notes.txt")
  t.prompt("look around")
  t.ran("bash")
end)
