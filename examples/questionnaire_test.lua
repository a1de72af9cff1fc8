local t = require "pi.test"

local two = {
  { question = "Which database?", header = "Storage", options = { { label = "SQLite" }, { label = "Postgres" } } },
  { question = "What is it called?" },
}

t.case("each question comes, and the model reads the answers", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = two } }, "thanks" }
  t.answers { select = "Postgres", custom = function(view)
    t.match(view.lines(40)[1], "What is it called")
    view.type("shop")
    view.key("enter")
  end }
  t.prompt("build a shop")
  t.ran("questionnaire")
  local result = t.messages()[3]
  t.match(result.content[1].text, "Which database%?\n  Postgres\nWhat is it called%?\n  shop")
end)

t.case("an answer may be in one's own words, of several lines", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = { two[1] } } }, "thanks" }
  t.answers { select = "something else", custom = function(view)
    view.type("a text file")
    view.key("ctrl+j")
    view.paste("one for\neach shop")
    t.equal(view.lines(40), {
      "Storage: Which database?", "> a text file", "  one for", "  each shop", "Enter answer · Ctrl+J another line · Esc",
    })
    view.key("enter")
  end }
  t.prompt("build a shop")
  t.match(t.messages()[3].content[1].text, "a text file\none for\neach shop")
end)

t.case("who leaves the field has not answered", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = { two[2] } } }, "then not" }
  t.answers { custom = function(view) view.key("esc") end }
  t.prompt("build a shop")
  t.match(t.messages()[3].content[1].text, "does not want to answer")
end)

t.case("nothing is no answer", function(t)
  t.hook("questionnaire.lua")
  t.model { { tool = "questionnaire", input = { questions = { two[2] } } }, "then not" }
  t.answers { custom = function(view)
    view.key("space")
    view.key("enter")
  end }
  t.prompt("build a shop")
  t.match(t.messages()[3].content[1].text, "does not want to answer")
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
