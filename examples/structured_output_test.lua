local t = require "pi.test"

local SCHEMA = [[{ "type": "object", "properties": { "sum": { "type": "integer" } }, "required": ["sum"] }]]

t.case("the answer is the JSON, and the run ends with it", function(t)
  t.hook("structured_output.lua")
  t.file("bill.json", SCHEMA)
  t.flags { schema = "bill.json" }
  t.model { { text = "Here it is:", tool = "final_answer", input = { sum = 12 } } }
  t.prompt("what is to be paid?")
  t.ran("final_answer")
  t.equal(t.messages()[2].content[1].text, '{"sum":12}')
  t.equal(#t.requests(), 1)
end)

t.case("what does not fit is refused, and words are no answer", function(t)
  t.hook("structured_output.lua")
  t.file("bill.json", SCHEMA)
  t.flags { schema = "bill.json" }
  t.model { "Twelve.", { tool = "final_answer", input = { sum = "twelve" } }, { tool = "final_answer", input = { sum = 12 } } }
  t.prompt("what is to be paid?")
  t.equal(#t.requests(), 3)
  local messages = t.messages()
  t.match(messages[3].content, "as a call of the tool final_answer")
  t.match(messages[5].content[1].text, "expected integer")
end)

t.case("a model that goes on in words is let go after two reminders", function(t)
  t.hook("structured_output.lua")
  t.file("bill.json", SCHEMA)
  t.flags { schema = "bill.json" }
  t.model { "No.", "No.", "No." }
  t.prompt("what is to be paid?")
  t.equal(#t.requests(), 3)
end)

t.case("without --schema it changes nothing", function(t)
  t.hook("structured_output.lua")
  t.model { "Twelve." }
  t.prompt("what is to be paid?")
  t.equal(t.messages()[2].content[1].text, "Twelve.")
end)

t.case("without its schema nothing is asked", function(t)
  t.hook("structured_output.lua")
  t.flags { schema = "missing.json" }
  t.prompt("what is to be paid?")
  t.shown("no answer without its schema")
  t.equal(#t.requests(), 0)
end)
