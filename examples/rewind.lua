-- Rewind: go back to before one of your prompts; conversation, files, or both.
--
-- Esc twice on an empty line, or /rewind, lists the prompts of this conversation. You go
-- to before the one that you pick: its text is in the line again, and what "write" and
-- "edit" changed since then is as it was. What was in the files until now is kept, and
-- the list offers to bring it back.
--
-- Copies of files are taken before they change, and kept for 30 days in the folder
-- "rewind" of the agent directory. What shell commands change is not copied: for all of
-- the files, in a repository, there is git_checkpoint.lua.
--
-- Install: pi hooks add example:rewind, or try it with pi --hook rewind.lua.

local fs = require "pi.fs"
local hash = require "pi.hash"
local path = require "pi.path"
local text = require "pi.text"
local time = require "pi.time"
local timer = require "pi.timer"

local COPY = "rewind_copy" -- an entry: what a file was before a tool changed it
local DONE = "rewind_done" -- an entry: what files were before a rewind changed them
local KEPT = 30 * 24 * 60 * 60 * 1000 -- ms
local NONE = "none" -- stands for the copy of a file that was not there

-- Copies ----------------------------------------------------------------------
-- A copy is named after its content, so the same content is there once.

local function store(name) return path.join(pi.paths.agent, "rewind", name or "") end

-- What a file is now, or nil and why that cannot be said.
local function content_of(file)
  if not fs.exists(file) then return NONE end
  local content, message = fs.read(file)
  return content and { content }, message
end

-- Keeps a content; the name of the copy, or nil and what is wrong.
local function keep(content)
  if content == NONE then return NONE end
  local name = hash.sha256(content[1])
  local ok, message = fs.write(store(name), content[1], { mkdir = true })
  if ok then ok, message = fs.chmod(store(name), "600") end
  return ok and name, message
end

local function same(a, b)
  return a == b or type(a) == "table" and type(b) == "table" and a[1] == b[1]
end

-- Gives a file the content of a copy.
local function restore(file, name)
  if name == NONE then
    if not fs.exists(file) then return true end
    return fs.remove(file)
  end
  local content, message = fs.read(store(name))
  if not content then return nil, message end
  return fs.write(file, content, { mkdir = true })
end

-- Old copies go, but not while anything waits for it.
pi.on("session_start", function(event)
  if event.reason ~= "startup" then return end
  timer.after(2000, function()
    for _, each in ipairs(fs.list(store()) or {}) do
      local info = fs.stat(store(each.name))
      if info and time.since(info.modified) > KEPT then fs.remove(store(each.name)) end
    end
  end)
end)

-- What tools change --------------------------------------------------------------

local before = {} -- by call: the file and its content

pi.on("tool_call", function(event, ctx)
  if event.tool_name ~= "write" and event.tool_name ~= "edit" then return end
  local file = path.abs(path.expand(event.input.path) or event.input.path, ctx.cwd)
  local content, message = content_of(file)
  before[event.tool_call_id] = { file = file, content = content, message = message }
end)

pi.on("tool_result", function(event, ctx)
  local was = before[event.tool_call_id]
  if not was or same(was.content, content_of(was.file)) then return end
  local name, message = nil, was.message
  if was.content then name, message = keep(was.content) end
  if not name then ctx.ui.notify("rewind has no copy of " .. was.file .. ": " .. message, "warning") end
  ctx.save_entry { type = COPY, path = was.file, copy = name }
end)

pi.on("turn_end", function() before = {} end)

-- Going back ------------------------------------------------------------------------

-- The copies that bring back what the files were before the entry at a position: of each
-- file the first since then. And the files that changed and have no copy.
local function copies_since(entries, from)
  local copies, lost, seen = {}, {}, {}
  for i = from, #entries do
    local entry = entries[i]
    if entry.type == COPY and not seen[entry.path] then
      seen[entry.path] = true
      if entry.copy then copies[entry.path] = entry.copy else lost[#lost + 1] = entry.path end
    end
  end
  return copies, lost
end

local function count(copies)
  local n = 0
  for _ in pairs(copies) do n = n + 1 end
  return n == 1 and "1 file" or n .. " files"
end

-- Puts copies in the place of files. Returns what the files were, to bring it back, and
-- tells of each that could not be changed.
local function put_back(copies, ctx)
  local were = {}
  for file, name in pairs(copies) do
    local now, message = content_of(file)
    local kept
    if now then kept, message = keep(now) end
    local ok = kept
    if kept then ok, message = restore(file, name) end
    if ok then
      were[file] = kept
    else
      ctx.ui.notify(file .. " stays as it is: " .. message, "error")
    end
  end
  return were
end

local function prompt_text(entry)
  local line = text.of(entry.message):gsub("%s+", " ")
  return line:find("%S") and text.fit(line, 70) or "(an image)"
end

-- What can be gone back to, the newest first.
local function choices_of(entries)
  local list, back = {}, false
  for i = #entries, 1, -1 do
    local entry = entries[i]
    if entry.type == "message" and entry.message.role == "user" then
      local copies, lost = copies_since(entries, i)
      local files = next(copies) and count(copies) .. " changed since" or nil
      list[#list + 1] = {
        label = prompt_text(entry), description = files, value = { id = entry.id, copies = copies, lost = lost },
      }
    elseif entry.type == DONE and not back then
      back = true
      list[#list + 1] = { label = "(bring back the files of before the rewind)", value = { copies = entry.files, lost = {} } }
    end
  end
  return list
end

-- "both", "conversation" or "files"; nil when the user left it.
local function how(choice, ctx)
  if not choice.id then return "files" end
  if not next(choice.copies) then return "conversation" end
  return ctx.ui.select("What goes back?", {
    { value = "both", label = "conversation and files", description = count(choice.copies) },
    { value = "conversation", label = "conversation only", description = "files stay as they are" },
    { value = "files", label = "files only", description = "the model is not told" },
  })
end

local function rewind(ctx)
  if not ctx.has_ui then return { status = "rewind needs a user to choose" } end
  if not ctx.is_idle() then return { status = "the agent is at work; Esc interrupts it" } end
  local choices = choices_of(ctx.entries)
  if #choices == 0 then return { status = "there is no prompt to go back to" } end
  local choice = ctx.ui.select("Rewind to before which prompt?", choices)
  local what = choice and how(choice, ctx)
  if not what then return end
  if what ~= "files" and assert(ctx.navigate_tree(choice.id)).cancelled then return end
  if what == "conversation" then return end
  local were = put_back(choice.copies, ctx)
  if next(were) then assert(ctx.save_entry { type = DONE, files = were }) end
  for _, file in ipairs(choice.lost) do ctx.ui.notify("there is no copy of " .. file, "warning") end
  return { status = count(were) .. " restored" }
end

pi.command("rewind", { description = "go back to before a prompt: conversation, files or both", handler = rewind })

pi.shortcut("esc esc", {
  description = "go back to before a prompt",
  handler = function(ctx)
    local result = rewind(ctx)
    if result then ctx.ui.notify(result.status) end
  end,
})
