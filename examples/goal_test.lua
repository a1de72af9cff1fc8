local t = require "pi.test"

t.case("it works until the check succeeds", function(t)
  t.hook("goal.lua")
  t.answers { continuations = true }
  t.model {
    "I have looked.",
    { tool = "write", input = { path = "done.txt", content = "yes\n" } },
    "I wrote done.txt.",
  }
  t.command("/goal test -f done.txt -- write the file")
  t.equal(#t.requests(), 3)
  t.match(t.requests()[1].messages[1].content[1].text, "^write the file\n\nYou are done when this command succeeds: test %-f done%.txt$")
  t.shown("The goal is reached: test -f done.txt succeeds")
  t.equal(t.command("/goal"), "There is no goal")
end)

t.case("with the word of the user it goes on for longer than hooks may", function(t)
  t.hook("goal.lua")
  t.config{ max_continuations = 2 }
  t.answers { continuations = true }
  local steps = {}
  for i = 1, 12 do steps[i] = "try " .. i end
  steps[13] = { tool = "write", input = { path = "done.txt", content = "yes\n" } }
  steps[14] = "done"
  t.model(steps)
  t.command("/goal test -f done.txt")
  t.equal(#t.requests(), 14)
  t.shown("The goal is reached")
end)

t.case("without it, it goes on as far as any hook, and ends in words", function(t)
  t.hook("goal.lua")
  t.config{ max_continuations = 2 }
  t.answers { continuations = { false, "more", "stop" } }
  local limits = t.events { "continuation_limit" }
  t.model { "one", "two", "three", "four", "five" }
  t.command("/goal echo it is red; false")
  t.shown("The goal goes on as far as any hook may: the user does not want it")
  t.equal(#t.requests(), 5)
  t.equal({ limits[1].hook, limits[1].used, limits[1].limit, limits[1].answer }, { "goal", 2, 2, "more" })
  t.equal({ limits[2].used, limits[2].limit, limits[2].answer }, { 4, 4, "stop" })
  t.shown("The goal is not reached after 5 tries: echo it is red; false fails with status 1")
  t.shown("it is red")
end)

t.case("where nobody can be asked it is the same", function(t)
  t.hook("goal.lua")
  t.config{ max_continuations = 1 }
  t.model { "one", "two" }
  t.command("/goal false")
  t.shown("The goal goes on as far as any hook may: nobody is there to ask")
  t.shown("The goal is not reached after 2 tries")
end)

t.case("the user says that it is enough", function(t)
  t.hook("goal.lua")
  t.answers { continuations = true }
  t.model { { error = "the server is gone", status = 400 }, "hello" }
  t.command("/goal false")
  t.equal(t.command("/goal"), "The goal is: false")
  t.equal(t.command("/goal enough"), "That is enough")
  t.prompt("hi")
  t.equal(#t.requests(), 2)
  t.equal(t.status().goal, nil)
end)
