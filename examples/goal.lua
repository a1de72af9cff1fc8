-- Goal: works until a check succeeds, or until you say that it is enough.
--
--   /goal make test                       works until `make test` succeeds
--   /goal make test -- fix the parser     the same, and says what to do first
--   /goal                                 says what the goal is
--   /goal enough                          ends it; so does an interrupt
--
-- It asks beforehand whether the model may be asked so often without you. If you say no, it goes
-- on as far as hooks may (max_continuations), and then says what is still wrong.
--
-- Install: pi hooks add example:goal, or try it with pi --hook goal.lua.

local text = require "pi.text"

local TRIES = 50
local LONGEST = { lines = 60, bytes = 8000, keep = "tail" } -- of what the check says

local function show(ctx)
  local goal = pi.state.goal
  ctx.ui.set_status("goal", goal and ("goal: %s (%d)"):format(goal.check, goal.tries))
end

local function give_up(ctx)
  pi.state.goal = nil
  show(ctx)
end

-- What the check says, or nil if it succeeds.
local function still_wrong(ctx)
  local result, err = pi.exec("sh", { "-c", pi.state.goal.check }, { cwd = ctx.cwd, signal = ctx.signal })
  if not result then return err end
  if result.code == 0 then return nil end
  local output = text.truncate(result.stdout .. result.stderr, LONGEST)
  return ("status %d\n%s"):format(result.code, output)
end

pi.command("goal", {
  description = "Work until a check succeeds: /goal COMMAND [-- WHAT TO DO]",
  handler = function(ctx)
    local goal = pi.state.goal
    if ctx.args_raw == "" then return { status = goal and "The goal is: " .. goal.check or "There is no goal" } end
    if ctx.args_raw == "enough" then
      give_up(ctx)
      return { status = "That is enough" }
    end
    local check, what = ctx.args_raw:match("^(.-)%s+%-%-%s+(.+)$")
    pi.state.goal = { check = check or ctx.args_raw, tries = 0 }
    local allowed, err = pi.continuations{ up_to = TRIES }
    if not allowed then ctx.ui.notify("The goal goes on as far as any hook may: " .. err) end
    show(ctx)
    return ("%s\n\nYou are done when this command succeeds: %s"):format(what or "Work on this project.", pi.state.goal.check)
  end,
})

pi.on("agent_before_settle", function(event, ctx)
  local goal = pi.state.goal
  if not goal then return end
  if event.outcome == "aborted" then return give_up(ctx) end
  if event.outcome ~= "completed" then return end
  local wrong = still_wrong(ctx)
  if pi.state.goal ~= goal then return end -- it was enough while the check ran
  if not wrong then
    ctx.ui.notify(("The goal is reached: %s succeeds"):format(goal.check))
    return give_up(ctx)
  end
  goal.tries, goal.wrong = goal.tries + 1, wrong
  show(ctx)
  return {
    continue = true,
    entries = { {
      type = "custom_message",
      custom_type = "goal",
      content = ("%s fails: %s\n\nGo on until it succeeds."):format(goal.check, wrong),
      display = true,
    } },
  }
end)

pi.on("continuation_limit", function(event, ctx)
  local goal = pi.state.goal
  if not goal or event.hook ~= pi.hook.name or event.answer ~= "stop" then return end
  give_up(ctx)
  ctx.ui.notify(("The goal is not reached after %d tries: %s fails with %s"):format(goal.tries, goal.check, goal.wrong), "warning")
end)
