-- Auto commit: what the agent changed becomes a commit when you leave.
--
-- Only files are committed that had no changes when the session began: what you were at
-- work on yourself stays as it is, staged or not. The subject of the commit is the name
-- of the session, or its first prompt; the body is the beginning of the last answer.
-- Nothing is pushed, and where there is no repository nothing happens.
--
-- Hooks, filters and monitors of the repository do not run: they lie where the agent can
-- write. git reset --soft HEAD~1 takes the commit back and keeps the files.
--
-- Needs: `git`.
--
-- Install: pi hooks add example:auto_commit, or try it with pi --hook auto_commit.lua.

local git = require "pi.git"
local text = require "pi.text"

if pi.hook.agent then return end -- what an agent changes is committed with the session that it works for

-- Runs git from the root of the repository; its output, or nil and what is wrong.
local function run(root, ...)
  local env, err = git.env { cwd = root }
  if not env then return nil, err end
  env.GIT_LITERAL_PATHSPECS = "1" -- a file may be called *.lua
  local result
  result, err = pi.exec("git", { ... }, { cwd = root, env = env })
  if not result then return nil, err end
  if result.code ~= 0 then return nil, (result.stderr .. result.stdout):gsub("%s+$", "") end
  return result.stdout
end

-- The paths that differ from the last commit, as a set, and a list in git's order.
local function changed(root)
  local set, list = {}, {}
  for _, change in ipairs(git.status { cwd = root } or {}) do
    for _, path in ipairs { change.path, change.from } do
      if not set[path] then list[#list + 1] = path end
      set[path] = true
    end
  end
  return set, list
end

pi.on("session_start", function(event, ctx)
  if event.reason == "reload" then return end -- pi.state still has what was there at the start
  local root = git.root { cwd = ctx.cwd }
  pi.state.root, pi.state.before = root, root and changed(root)
end)

-- The text of a commit: nil where the agent was asked nothing, and so has changed nothing.
local function commit_message(ctx)
  local prompt, answer
  for _, entry in ipairs(ctx.entries) do
    local role = entry.message and entry.message.role
    if role == "user" then prompt = prompt or text.of(entry.message) end
    if role == "assistant" then answer = text.of(entry.message) end
  end
  if not prompt then return end
  local subject = text.fit((pi.session_name() or prompt):gsub("%s+", " "), 72)
  local body = text.truncate(answer or "", { lines = 20 })
  return subject .. "\n\n" .. table.concat(text.wrap(body, 72), "\n") .. "\n"
end

local function commit(ctx)
  local root, message = pi.state.root, commit_message(ctx)
  if not root or not message then return end
  local paths = {}
  local _, list = changed(root)
  for _, path in ipairs(list) do
    if not pi.state.before[path] then paths[#paths + 1] = path end
  end
  if #paths == 0 then return end
  local ok, err = run(root, "add", "--all", "--", unpack(paths))
  if ok then ok, err = run(root, "commit", "--quiet", "--only", "--message", message, "--", unpack(paths)) end
  if ok then
    ctx.ui.notify(("committed %d %s: %s"):format(#paths, #paths == 1 and "file" or "files", message:match("[^\n]*")))
  else
    ctx.ui.notify("nothing was committed: " .. err, "error")
  end
end

pi.on("session_shutdown", function(event, ctx)
  if event.reason == "reload" then return end
  local done = pi.defer_exit("committing what changed") -- a large repository takes its time
  local ok, err = pcall(commit, ctx)
  done()
  if not ok then error(err, 0) end
end)
