-- Boomerang: has a task done aside, and comes back with a summary of it.
--
--   /boomerang find out why the tests are slow
--
-- The model works on the task as on any prompt, with all that it has seen so far;
-- you see it work, and can steer it. When it is done, the conversation goes on from
-- where you were, and of the task it knows a summary: the long way there is on a
-- branch of its own, which /tree shows. What does not come to its end stays.
--
-- Install: pi hooks add example:boomerang, or try it with pi --hook boomerang.lua.

local SUMMARY = [[The task is done, and this is all that is kept of it. Say what came of it: the answer, the
files that were changed (exact paths), what was decided, what is still open. Leave out how it was found.]]

local function do_task(ctx, task)
  local home = ctx.session.leaf_id()
  if not home then return "There is nothing to come back to yet: say something first" end

  local result = assert(ctx.prompt(task, { expand = true }))
  if result.outcome ~= "completed" then
    return "The task did not come to its end (" .. result.outcome .. "), so all of it stays here"
  end

  local back = assert(ctx.navigate_tree(home, { summarize = true, custom_instructions = SUMMARY, label = "boomerang" }))
  if back.cancelled then return "A hook did not let it go back, so all of it stays here" end
  return "Back where you were, with a summary of the task"
end

pi.command("boomerang", {
  description = "Have a task done aside, and come back with a summary of it",
  handler = function(ctx)
    if ctx.args_raw == "" then return { status = "Say what to do: /boomerang find out why the tests are slow" } end
    ctx.wait_for_idle() -- the task is to have a run of its own
    return { status = do_task(ctx, ctx.args_raw) }
  end,
})
