-- A hook that asks models, for modules_test.lua.

local llm = require "pi.llm"
local text = require "pi.text"

local REQUEST = { system = "Be short.", messages = { { role = "user", content = "hi" } } }

pi.command("complete", { description = "Asks", handler = function()
  local answer, err = llm.complete(nil, REQUEST)
  return { status = answer and text.of(answer) or err }
end })

pi.command("stream", { description = "Asks, and shows the pieces", handler = function()
  local pieces = {}
  local answer, err = llm.stream(nil, REQUEST, { on_delta = function(delta)
    if delta.type == "text" then pieces[#pieces + 1] = delta.text end
  end })
  return { status = answer and table.concat(pieces, "|") .. "|" .. text.of(answer) or err }
end })
