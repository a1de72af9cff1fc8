-- NAME: /NAME COMMAND has the model work until a command passes, such as /NAME go test ./...
--
-- agent_before_settle comes when the model has nothing more to do. With continue = true it is
-- asked again, and what entries add is what it reads then. So that no hook goes on for ever, the
-- user is asked after max_continuations requests; pi.continuations asks beforehand, and
-- continuation_limit says how that ended. Go on for something that can come true.

local text = require "pi.text"

local UP_TO = 30 -- requests

local function goal() return pi.state.goal end -- pi.state is kept when this file is saved

pi.command("NAME", {
  description = "Work until a command passes; without one, no more",
  handler = function(ctx)
    pi.state.goal = ctx.args_raw ~= "" and ctx.args_raw or nil
    if not goal() then return { status = "no goal any more" } end
    local ok, why = pi.continuations { up_to = UP_TO }
    if not ok then ctx.ui.notify("it will ask earlier whether to go on: " .. why) end
    return "Work until this command passes: " .. goal()
  end,
})

pi.on("agent_before_settle", function(event, ctx)
  if not goal() or event.outcome ~= "completed" then return end
  local run = pi.exec("sh", { "-c", goal() }, { cwd = ctx.cwd })
  if run and run.code == 0 then
    ctx.ui.notify("it passes: " .. goal())
    pi.state.goal = nil
    return
  end
  local output = run and run.stdout .. run.stderr or "it does not start"
  return {
    continue = true,
    entries = { {
      type = "custom_message", custom_type = "NAME", display = true,
      content = "It does not pass yet:\n" .. text.truncate(output, { bytes = 4000, keep = "tail" }),
    } },
  }
end)

pi.on("continuation_limit", function(event, ctx)
  if event.hook ~= pi.hook.name or event.answer ~= "stop" then return end
  ctx.ui.notify(("given up after %d requests: %s"):format(event.used, tostring(goal())), "warning")
  pi.state.goal = nil
end)
