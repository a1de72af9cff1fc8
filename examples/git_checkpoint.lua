-- Git checkpoint: a snapshot of the files before every turn, and the offer to
-- go back to it when you branch.
--
-- A snapshot is a commit that no branch has; your index, your stash and your
-- files stay as they are. It holds changed and new files, large ones as well, but
-- not the ignored ones, nor what changes in repositories inside of this one.
-- A reference keeps it from being collected:
--
--   git for-each-ref refs/pi-checkpoints     lists them
--   git update-ref -d NAME                   forgets one
--
-- The session remembers which snapshot belongs to which turn, in entries of the
-- type git_checkpoint. Before files are restored, those that are there now
-- become a snapshot too. Without a user nothing is restored, and outside of a
-- repository nothing happens.
--
-- Needs: `git`.
--
-- Install: pi hooks add example:git_checkpoint, or try it with pi --hook git_checkpoint.lua.

local fs = require "pi.fs"
local git = require "pi.git"

if pi.hook.agent then return end -- the session that an agent works for takes the snapshots

local TYPE = "git_checkpoint"
local REFS = "refs/pi-checkpoints/"

-- Runs git from the root of the repository; its output, or nil and what is wrong.
local function run(repo, ...)
  local result, err = pi.exec("git", { ... }, { cwd = repo.root, env = repo.env })
  if not result then return nil, err end
  if result.code ~= 0 then return nil, (result.stderr:gsub("%s+$", "")) end
  return (result.stdout:gsub("%s+$", ""))
end

-- The repository around dir with an index of our own, or nil.
local function repository(dir)
  local root = git.root{ cwd = dir }
  local env = root and git.env{ cwd = root } -- no program that the repository names runs
  if not env then return nil end
  local index = run({ root = root, env = env }, "rev-parse", "--path-format=absolute", "--git-path", "pi-checkpoint-index")
  env.GIT_INDEX_FILE = index
  env.GIT_AUTHOR_NAME, env.GIT_AUTHOR_EMAIL = "pi", "pi@localhost"
  env.GIT_COMMITTER_NAME, env.GIT_COMMITTER_EMAIL = "pi", "pi@localhost"
  return index and { root = root, index = index, env = env }
end

-- How much of the index is read to find the repositories inside; pi.exec keeps 16 MiB.
local MOST = 16 * 1024 * 1024 - 1

-- Arguments that have git pass over the repositories inside: it would go into them to
-- see what changed, and their own settings may name programs. Or nil and what is wrong.
local function outside_of_others(repo)
  local index, err = run(repo, "ls-files", "--stage", "-z")
  if not index then return nil, err end
  if #index >= MOST then return nil, "the repository has too many files" end
  local args = { "--", ":/" }
  for path in ("\0" .. index):gmatch("%z160000 [^\t]*\t([^%z]+)") do
    table.insert(args, ":(top,exclude,literal)" .. path)
  end
  return args
end

-- Makes a commit of the files as they are; its id, or nil and what is wrong.
local function snapshot(repo)
  local head = run(repo, "rev-parse", "--verify", "--quiet", "HEAD")
  if head and not fs.exists(repo.index) then run(repo, "read-tree", head) end
  local what, err = outside_of_others(repo)
  if not what then return nil, err end
  local ok
  ok, err = run(repo, "add", "--all", unpack(what))
  if not ok then return nil, err end
  local tree = run(repo, "write-tree")
  local args = { "commit-tree", tree, "-m", "pi checkpoint" }
  if head then
    table.insert(args, "-p")
    table.insert(args, head)
  end
  local commit
  commit, err = run(repo, unpack(args))
  if not commit then return nil, err end
  ok, err = run(repo, "update-ref", REFS .. commit, commit)
  return ok and commit, err
end

-- Makes the files what they were in a snapshot; true, or nil and what is wrong.
local function restore(repo, commit)
  local now, err = snapshot(repo)
  if not now then return nil, err end
  local ok
  ok, err = run(repo, "read-tree", "-m", "-u", now, commit)
  return ok and true, err
end

-- The first snapshot that was taken after an entry.
local function snapshot_after(entries, id)
  local passed = false
  for _, entry in ipairs(entries) do
    if passed and entry.type == TYPE then return entry.commit end
    passed = passed or entry.id == id
  end
end

local told = false -- that snapshots fail

pi.on("turn_start", function(_, ctx)
  local repo = repository(ctx.cwd)
  if not repo then return end
  local commit, err = snapshot(repo)
  if commit then
    ctx.save_entry{ type = TYPE, commit = commit }
  elseif not told then
    told = true
    ctx.ui.notify("no checkpoint: " .. err, "warning")
  end
end)

local wanted -- the snapshot that goes with the branch that is being made

pi.on("session_before_branch", function(event, ctx)
  wanted = nil
  local commit = snapshot_after(ctx.entries, event.entry_id)
  if commit and ctx.ui.confirm("Restore the files too?", "They become what they were then; what is there now is kept as a snapshot.") then
    wanted = commit
  end
end)

pi.on("session_branch", function(_, ctx)
  local repo = wanted and repository(ctx.cwd)
  if not repo then return end
  local ok, err = restore(repo, wanted)
  wanted = nil
  if ok then
    ctx.ui.notify("the files are those of the checkpoint")
  else
    ctx.ui.notify("the files were not restored: " .. err, "error")
  end
end)
