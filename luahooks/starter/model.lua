-- NAME: a model made of a function, chosen with pi --model NAME/parrot or /model. It answers
-- with what was said last, and when asked to "list", it calls a tool first.
--
-- stream gets the request and emits pieces of the answer: { type = "text" | "thinking", text = … }
-- and { type = "tool_call", id = …, name = …, arguments = … }. It may ask a server for them
-- (pi.http), or another model (pi.llm). To add a server that speaks a known API, give base_url
-- and api in place of stream.

local function last_text(request)
  local content = request.messages[#request.messages].content
  if type(content) == "string" then return content end
  return content[1] and content[1].text or ""
end

pi.provider("NAME", {
  models = { { id = "parrot", context_window = 8000 } },
  stream = function(request, emit)
    local last = request.messages[#request.messages]
    if last.role == "user" and last_text(request):find("list", 1, true) then
      emit { type = "tool_call", id = "call_1", name = "bash", arguments = { command = "ls" } }
      return
    end
    emit { type = "text", text = "You say: " .. last_text(request) }
  end,
})
