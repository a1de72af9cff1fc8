-- Subagent: the tool "task", by which the model hands work to other agents. Each has a
-- context of its own, so what it reads does not fill yours; it has your tools, gates and
-- limits, and what it uses counts in your session.
--
-- The model gives one task, a list that is worked on side by side, or a chain in which
-- {previous} stands for what the task before came to. `agent` names one of your agents
-- (/agents). With worktree = true each works in a git worktree of its own, which begins at
-- the last commit; what it changed is committed to a branch, whose name is in the result.
--
-- While they work there is a row for each: what it does, its tokens, and how long. What came
-- of them is folded to a row each, with the cost; Ctrl+O shows it all.
--
-- Install: pi hooks add example:subagent, or try it with pi --hook subagent.lua.

local agent = require "pi.agent"
local fs = require "pi.fs"
local git = require "pi.git"
local hash = require "pi.hash"
local path = require "pi.path"
local schema = require "pi.schema"
local text = require "pi.text"
local time = require "pi.time"

local MOST = 8                    -- tasks of a call
local LONGEST = { bytes = 16000 } -- of what a task comes to

-- Runs git in dir, without programs that the repository names; its output, or nil and what is wrong.
local function run_git(dir, ...)
  local env, err = git.env { cwd = dir }
  if not env then return nil, err end
  local result
  result, err = pi.exec("git", { ... }, { cwd = dir, env = env })
  if not result then return nil, err end
  if result.code ~= 0 then return nil, (result.stderr:gsub("%s+$", "")) end
  return (result.stdout:gsub("%s+$", ""))
end

-- Makes a worktree for a task: {root, dir, branch, base}, or nil and why not.
local function open_tree(cwd, name)
  local root, err = git.root { cwd = cwd }
  if not root then return nil, err end
  local base
  base, err = run_git(root, "rev-parse", "--verify", "HEAD")
  if not base then return nil, err end
  local dir
  dir, err = fs.temp { dir = true }
  if not dir then return nil, err end
  local branch = ("task/%s-%s"):format(name:gsub("[^%w-]+", "-"):gsub("^%-+", ""), hash.hex(hash.random(3)))
  local tree = { root = root, base = base, dir = path.join(dir, "work"), branch = branch }
  local ok
  ok, err = run_git(root, "worktree", "add", "--quiet", "-b", branch, tree.dir, base)
  return ok and tree, err
end

-- Commits what was changed in a worktree and removes that; the branch, or nil if nothing was
-- changed or something went wrong, which is said then.
local function close_tree(tree, title)
  local ok, err = run_git(tree.dir, "add", "--all")
  if ok and run_git(tree.dir, "status", "--porcelain") ~= "" then
    ok, err = run_git(tree.dir, "commit", "--quiet", "--no-verify", "-m", title)
  end
  if not ok then return nil, ("%s; the worktree is left in %s"):format(err, tree.dir) end
  local is_changed = run_git(tree.dir, "rev-parse", "HEAD") ~= tree.base
  run_git(tree.root, "worktree", "remove", "--force", tree.dir)
  if is_changed then return tree.branch end
  run_git(tree.root, "branch", "--delete", "--force", tree.branch)
end

-- What a call of a tool is about, in a few words.
local function about(name, args)
  local what = args.command or args.path or args.pattern or args.url or args.prompt or ""
  return text.fit(name .. " " .. tostring(what):gsub("%s+", " "), 60)
end

-- Notes in a row what an event says of its agent; whether the row is another one now.
local function follow(row, event)
  if event.type == "tool_execution_start" then
    row.doing = about(event.tool_name, event.args)
  elseif event.type == "message_end" and event.message.usage then
    row.tokens = row.tokens + event.message.usage.total
  elseif event.type == "turn_end" then
    row.doing = "thinking"
  else
    return false
  end
  return true
end

-- Has an agent work on a task, and fills its row; true if the task was done.
local function work(row, task, worktree, ctx, call, show)
  local tree, err
  if worktree then
    tree, err = open_tree(ctx.cwd, row.name)
    if not tree then
      row.state, row.text = "error", "no worktree: " .. err
      return false
    end
  end
  local title = "task: " .. text.fit(task.prompt, 60)
  local off = tree and call.signal.on_cancel(function()
    local branch = close_tree(tree, title)
    if branch then pi.log("what an interrupted task had done is on the branch " .. branch) end
  end)
  row.began, row.state, row.doing = time.now(), "working", "thinking"
  show()
  local result
  result, err = agent.run {
    prompt = task.prompt, agent = task.agent, name = row.name, cwd = tree and tree.dir,
    on_event = function(event)
      if follow(row, event) then show() end
    end,
  }
  row.took, row.doing = time.since(row.began), nil
  row.state, row.text = result and result.stop_reason or "error", result and result.text or err
  if result then
    row.error, row.tokens, row.cost = result.error, result.usage.total, result.usage.cost.total
  end
  if tree then
    off()
    row.branch, err = close_tree(tree, title)
    row.error = row.error or err
  end
  show()
  return row.state == "completed"
end

-- What the model reads of a row.
local function report(row)
  local parts = { "## " .. row.name }
  if row.state ~= "completed" then parts[#parts + 1] = ("(it ended as %s%s)"):format(row.state, row.error and ": " .. row.error or "") end
  if row.branch then parts[#parts + 1] = "(its changes are on the branch " .. row.branch .. ")" end
  parts[#parts + 1] = text.truncate(row.text or "(it was not begun)", LONGEST)
  return table.concat(parts, "\n")
end

local function counted(n) return n < 1000 and tostring(n) or ("%.1fk"):format(n / 1000) end

-- A row as it is shown: a sign, the name, what it does or came to, tokens, seconds, cost.
local function drawn(row, opts, theme)
  local sign = row.state == "working" and theme.fg("accent", "●") or row.state == "completed" and theme.fg("success", "✓")
    or row.state == "waiting" and theme.fg("dim", "○") or theme.fg("error", "✗")
  local took = row.took or row.began and time.since(row.began) or 0
  local numbers = ("%s tokens · %ds"):format(counted(row.tokens), math.floor(took / 1000))
  if row.cost then numbers = numbers .. (" · $%.4f"):format(row.cost) end
  local said = row.doing or row.error or (row.text or ""):match("[^\n]*")
  local room = opts.width - text.width(row.name) - text.width(numbers) - 8
  return ("%s %s  %s  %s"):format(sign, theme.bold(row.name), text.fit(said, math.max(room, 8)), theme.fg("dim", numbers))
end

-- The tasks of a call and how they are worked on, or nil and what is wrong with it.
local function plan(params)
  local given, tasks, how = 0, nil, nil
  for _, way in ipairs { "task", "tasks", "chain" } do
    if params[way] then given, tasks, how = given + 1, way == "task" and { params.task } or params[way], way end
  end
  if given ~= 1 then return nil, "give one of task, tasks and chain" end
  if #tasks == 0 or #tasks > MOST then return nil, ("give 1 to %d tasks"):format(MOST) end
  return tasks, how
end

local one = schema.object {
  prompt = schema.string "all that the agent has to know: it sees nothing of this conversation",
  agent = schema.optional(schema.string "the name of an agent that is defined, for its special knowledge"),
  name = schema.optional(schema.string "what the user reads of it, in one or two words"),
}

pi.tool {
  name = "task",
  description = "Hands work to other agents, which have your tools and a context of their own, and returns what they came to. "
    .. "task: one. tasks: several side by side, for what does not depend on each other. chain: one after the other; {previous} in a "
    .. "prompt is what the one before came to. worktree: each changes files in a git worktree of its own, begun at the last commit, "
    .. "and hands back a branch with its changes.",
  prompt_snippet = "hand work to other agents, side by side or one after the other",
  parameters = schema.object {
    task = schema.optional(one), tasks = schema.optional(schema.array(one)), chain = schema.optional(schema.array(one)),
    worktree = schema.optional(schema.boolean()),
  },
  execute = function(params, ctx, call)
    local tasks, how = plan(params)
    if not tasks then return { content = how, is_error = true } end
    local rows = {}
    for i, task in ipairs(tasks) do
      rows[i] = { name = text.fit(task.name or task.agent or "task " .. i, 24), state = "waiting", tokens = 0 }
    end
    local function show()
      local lines = {}
      for i, row in ipairs(rows) do lines[i] = ("%s: %s"):format(row.name, row.doing or row.state) end
      call.update { content = table.concat(lines, "\n"), details = { rows = rows } }
    end
    show()
    if how == "chain" then
      for i, task in ipairs(tasks) do
        local previous = i > 1 and rows[i - 1].text or ""
        local prompt = task.prompt:gsub("{previous}", function() return previous end)
        if not work(rows[i], { prompt = prompt, agent = task.agent }, params.worktree, ctx, call, show) then break end
      end
    else
      local works = {}
      for i, task in ipairs(tasks) do
        works[i] = function() return work(rows[i], task, params.worktree, ctx, call, show) end
      end
      pi.all(works, { limit = #works })
    end
    local reports, is_error = {}, true
    for i, row in ipairs(rows) do
      reports[i], is_error = report(row), is_error and row.state ~= "completed"
    end
    return { content = table.concat(reports, "\n\n"), details = { rows = rows }, is_error = is_error }
  end,
  render_call = function(params, _, theme)
    local tasks = params.tasks or params.chain or { params.task or {} }
    return theme.bold("task") .. " " .. (#tasks == 1 and text.fit(tasks[1].prompt or "", 70) or #tasks .. (params.chain and " in a chain" or " side by side"))
  end,
  render_result = function(result, opts, theme)
    local lines = {}
    for _, row in ipairs(result.details and result.details.rows or {}) do
      lines[#lines + 1] = drawn(row, opts, theme)
      if opts.expanded and not opts.partial and row.text then
        for _, line in ipairs(theme.markdown(row.text, opts.width - 2)) do lines[#lines + 1] = "  " .. line end
      end
    end
    if opts.partial then opts.redraw() end -- the seconds go on
    return #lines > 0 and lines or nil
  end,
}
