-- Structured output: the answer is JSON of a form that you give, for scripts.
--
--   pi --hook structured_output.lua --schema=bill.json -p "what is to be paid?" @bill.txt
--
-- The file is a JSON Schema of an object. The model gets a tool with this schema for its
-- answer, so what it gives is checked like the arguments of any tool: what does not fit
-- comes back to it with what is wrong. The call ends the run, and what pi prints is the
-- JSON and nothing else. A model that answers in words is asked again, at most twice per
-- prompt. Without --schema this hook does nothing.
--
-- Needs: --schema=FILE at the start.
--
-- Install: pi hooks add example:structured_output, or try it with pi --hook structured_output.lua.

local fs = require "pi.fs"
local json = require "pi.json"

local TOOL = "final_answer"
local REMINDERS = 2

pi.flag("schema", { description = "a JSON Schema that the answer is to fit", type = "string" })

local wanted -- the schema is in force
local broken -- why it cannot be
local given, reminded = false, 0

-- The schema of a file, or nil and what is wrong.
local function load_schema(path)
  local source, message = fs.read(path)
  if not source then return nil, message end
  local schema
  schema, message = json.decode(source)
  if not schema then return nil, message end
  if type(schema) ~= "table" or schema.type ~= "object" then return nil, path .. " is not the schema of an object" end
  return schema
end

pi.on("session_start", function()
  local path = pi.get_flag("schema")
  if not path or wanted then return end
  local schema, message = load_schema(path)
  if not schema then
    broken = "no answer without its schema: " .. message
    return
  end
  wanted = true
  pi.tool {
    name = TOOL,
    description = "Give the final answer. This ends your work, so call it alone, once, when everything else is done.",
    prompt_guidelines = { "Your answer counts only as a call of " .. TOOL .. "; what you write beside it is not read." },
    parameters = schema,
    execution = "sequential",
    annotations = { read_only = true },
    execute = function()
      given = true
      return { content = "The answer was taken.", terminate = true }
    end,
  }
end)

-- A script that cannot have its form gets no answer: the run is interrupted before the
-- model is asked, and pi -p ends with a status that is not 0.
pi.on("agent_start", function(_, ctx)
  given, reminded = false, 0
  if not broken then return end
  ctx.ui.notify(broken, "error")
  ctx.abort()
end)

-- What pi prints is the text of the last answer, so the JSON becomes that text.
pi.on("message_end", function(event)
  local message = event.message
  if not wanted or message.role ~= "assistant" then return end
  local content, answer = {}, nil
  for _, block in ipairs(message.content) do
    if block.type == "toolCall" and block.name == TOOL then answer = block end
    if block.type ~= "text" then content[#content + 1] = block end
  end
  if not answer then return end
  table.insert(content, #content, { type = "text", text = json.encode(answer.arguments) })
  message.content = content
  return { message = message }
end)

pi.on("agent_before_settle", function(event)
  if not wanted or given or event.outcome ~= "completed" or reminded == REMINDERS then return end
  reminded = reminded + 1
  return {
    continue = true,
    entries = { {
      type = "custom_message", custom_type = "structured_output_reminder", display = false,
      content = "Give your answer as a call of the tool " .. TOOL .. ".",
    } },
  }
end)
