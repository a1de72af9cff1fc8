-- Todo: a list of steps for the model, and a reminder when it stops too early.
--
-- The model writes its plan with the tool "todo" and ticks off what is done. While
-- there is something to do, what is open of the plan stands above the line you type (an
-- editor shows the plan in its own way), and /todo shows all of it at any time. Each state of the list is an entry of the session (todo_list),
-- so it is there after a restart, and each branch has its own.
--
-- When a run would end with open items the model is reminded and goes on, at most
-- twice per prompt. Other hooks hear of it: omp:todo_reminder, with the items that are
-- open as items = {{text, done}, …}, their number as open, and attempt of max_attempts.
--
-- Install: pi hooks add example:todo, or try it with pi --hook todo.lua.

local schema = require "pi.schema"

local TYPE = "todo_list"
local REMINDERS = 2 -- per prompt

local function items(ctx)
  local entries = ctx.entries
  for i = #entries, 1, -1 do
    if entries[i].type == TYPE then return entries[i].items end
  end
  return {}
end

local function open(list)
  local left = {}
  for _, item in ipairs(list) do
    if not item.done then table.insert(left, item) end
  end
  return left
end

local function lines(list)
  local out = {}
  for _, item in ipairs(list) do
    table.insert(out, (item.done and "[x] " or "[ ] ") .. item.text)
  end
  return table.concat(out, "\n")
end

-- show gives the front end the plan; the first open item is the one being worked on.
local function show(ctx, list)
  local steps, busy = {}, false
  for _, item in ipairs(list) do
    if item.text:find("%S") and #steps < 200 then
      local status = item.done and "completed" or busy and "pending" or "in_progress"
      busy = busy or not item.done
      table.insert(steps, { content = item.text, status = status })
    end
  end
  ctx.ui.set_plan(steps)
end

pi.on("session_start", function(_, ctx) show(ctx, items(ctx)) end)
pi.on("session_tree", function(_, ctx) show(ctx, items(ctx)) end)

pi.tool{
  name = "todo",
  description = "Write down the steps of the task at hand. The list that you give replaces the one before, so give "
    .. "all items each time, with done = true for what is finished. An empty list ends the plan.",
  prompt_snippet = "keep a list of steps for tasks that have several",
  execution = "sequential",
  parameters = schema.object{
    items = schema.array(schema.object{
      text = schema.string("what to do, in a few words"),
      done = schema.boolean("it is finished"),
    }),
  },
  execute = function(params, ctx)
    ctx.save_entry{ type = TYPE, items = params.items }
    show(ctx, params.items)
    return ("%d of %d open\n%s"):format(#open(params.items), #params.items, lines(params.items))
  end,
}

pi.command("todo", {
  description = "Show the model's list of steps",
  handler = function(ctx)
    local list = items(ctx)
    return { status = #list == 0 and "No items" or lines(list) }
  end,
})

local reminded = 0

pi.on("agent_start", function() reminded = 0 end)

pi.on("agent_before_settle", function(event, ctx)
  if event.outcome ~= "completed" then return end
  local left = open(items(ctx))
  if #left == 0 or reminded == REMINDERS then return end
  reminded = reminded + 1
  pi.emit("omp:todo_reminder", { open = #left, items = left, attempt = reminded, max_attempts = REMINDERS })
  return {
    continue = true,
    entries = { {
      type = "custom_message",
      custom_type = "todo_reminder",
      content = "These items of your list are open. Do them, or change the list:\n" .. lines(left),
      display = false,
    } },
  }
end)
