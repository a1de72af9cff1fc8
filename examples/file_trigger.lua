-- File trigger: what another program writes into a file wakes the agent.
--
--   make test 2>&1 | tail -20 > ~/.pi/agent/trigger.txt
--
-- The text becomes a message of its own, marked as the report of a program, and
-- the agent answers it: at once when it is idle, else when it is done. Then the
-- file is removed. What is written in pieces is best written elsewhere and moved
-- here. $PI_TRIGGER_FILE names another file.
--
-- Whoever can write that file can talk to the agent, a tool of the agent too.
--
-- Install: pi hooks add example:file_trigger, or try it with pi --hook file_trigger.lua.

local fs = require "pi.fs"
local path = require "pi.path"
local text = require "pi.text"

if pi.hook.agent then return end -- what wakes the agent is for the session of the user

local LARGEST = 20000 -- bytes that reach the model

local function deliver(file, ctx)
  local words, err = fs.read(file)
  if not words then
    ctx.ui.notify("trigger: " .. err, "warning")
    return
  end
  if words:find("^%s*$") then return end -- it is still being written
  local removed, why = fs.remove(file)
  if not removed then
    ctx.ui.notify("trigger: " .. why, "warning")
    return
  end
  pi.send_message({
    custom_type = "file_trigger",
    content = "Another program reports:\n\n" .. text.truncate(words, { bytes = LARGEST, keep = "tail" }),
    details = { file = file },
  }, { trigger_turn = true, deliver_as = "follow_up" })
end

local watch

pi.on("session_start", function(_, ctx)
  if watch or not ctx.has_ui then return end -- a program that prints leaves it to one that stays
  local file = path.expand(os.getenv("PI_TRIGGER_FILE") or "~/.pi/agent/trigger.txt")
  local made, err = fs.mkdir(path.dir(file), { parents = true })
  if made then
    watch, err = fs.watch(file, function(event)
      if event.kind ~= "remove" then deliver(file, ctx) end
    end)
  end
  if not watch then
    ctx.ui.notify("trigger: " .. err, "warning")
  elseif fs.exists(file) then
    deliver(file, ctx)
  end
end)
