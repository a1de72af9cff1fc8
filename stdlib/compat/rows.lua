-- Rows of events, and parts of such rows, that several programs have. The file is called with
-- c, which base.lua describes; c.members is there already.

local c = ...
local rows = {}

-- A session begins for hooks of the others where the program does, and ends with it; other
-- sessions have events of their own there.
function rows.at_start(event) return event.reason == "startup" or event.reason == "reload" end
function rows.at_end(event) return event.reason == "quit" or event.reason == "reload" end

function rows.with_images(t, event) t.images = c.members.images(event) end

function rows.from_extension(t, event) t.from_extension = event.from_hook end

-- A reason without block is an error of ours. The others do not look at it then.
function rows.decision(result)
  if result.block == nil and result.reason ~= nil then return c.renamed(result, { reason = false }) end
  return result
end

-- input says what it did in words of its own.
local actions = { continue = true, transform = true, handled = true }

local function check_input(result)
  local action = result.action
  if action ~= nil and not actions[action] then
    error(("input: action is continue, transform or handled, not %q"):format(tostring(action)))
  end
  if result.images ~= nil and type(result.images) ~= "table" then
    error("input: images is a list of blocks, not a " .. type(result.images))
  end
end

local function input_answer(result, event)
  check_input(result)
  local mapped = c.renamed(result, { action = false, images = false })
  if result.action == "handled" then
    mapped.handled = true
  elseif result.images then
    local blocks = {}
    for _, block in ipairs(event.attachments) do
      if block.type ~= "image" then blocks[#blocks + 1] = block end
    end
    for _, image in ipairs(result.images) do blocks[#blocks + 1] = image end
    mapped.attachments = blocks
  end
  return mapped
end

rows.input = { name = "input", fields = { "text", "images", "source" }, results = { "action", "text", "images" },
  adds = { "images" }, fill = rows.with_images, answer = input_answer, rule = "action is continue, transform or handled" }

local function no_operations(result)
  if result.operations ~= nil then error(("user_bash: %s has no operations; use result"):format(c.name)) end
  return result
end

rows.user_bash = { name = "user_bash", fields = { "command", "exclude_from_context", "cwd" }, results = { "result" }, gate = true,
  answer = no_operations, rule = "the first result counts" }

return rows
