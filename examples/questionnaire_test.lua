local t = require "pi.test"

local two = {
  { question = "Which database?", header = "Storage", options = { { label = "SQLite" }, { label = "Postgres" } } },
  { question = "What is it called?" },
}

t.case("each question comes, and the model reads the answers", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = two } }, "thanks" }
  t.answers { select = "Postgres", input = "shop" }
  t.prompt("build a shop")
  t.ran("questionnaire")
  local result = t.messages()[3]
  t.match(result.content[1].text, "Which database%?\n  Postgres\nWhat is it called%?\n  shop")
end)

t.case("an answer may be in one's own words", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = { two[1] } } }, "thanks" }
  t.answers(function(kind, title)
    t.match(title, "^Storage: Which database")
    if kind == "select" then return "something else" end
    return "a text file"
  end)
  t.prompt("build a shop")
  t.match(t.messages()[3].content[1].text, "a text file")
end)

t.case("who leaves a question is not asked the next, and the model is told", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = two } }, "then I take SQLite" }
  local asked = 0
  t.answers(function()
    asked = asked + 1
    return nil
  end)
  t.prompt("build a shop")
  t.equal(asked, 1)
  t.match(t.messages()[3].content[1].text, "does not want to answer")
end)

t.case("where nobody is, the model decides", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = two } }, "I take SQLite" }
  t.prompt("build a shop")
  t.equal(t.messages()[3].is_error, true)
  t.match(t.messages()[3].content[1].text, "Decide yourself")
end)

t.case("several answers at once", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = { { question = "Which?", multi = true, options = { { label = "a" }, { label = "b" } } } } } }, "ok" }
  t.answers { select = { { "a", "b" } } }
  t.prompt("go")
  t.match(t.messages()[3].content[1].text, "Which%?\n  a, b")
end)
