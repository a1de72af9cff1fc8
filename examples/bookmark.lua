-- Bookmark: names for places of a conversation, and a way back to them.
--
--   /bookmark works again     names the last answer
--   /bookmark                 lists the names; the one that you pick is where you go on
--   /unbookmark works again   takes the name away
--
-- A name is a label of the session: /tree and /label show it too, and it is there when
-- the session is resumed. Going to a bookmark changes the conversation, no files, and
-- deletes nothing: what you leave is a branch of the tree.
--
-- Install: pi hooks add example:bookmark, or try it with pi --hook bookmark.lua.

local text = require "pi.text"

-- The last answer on this branch, or nil.
local function last_answer(ctx)
  local entries = ctx.entries
  for i = #entries, 1, -1 do
    local entry = entries[i]
    if entry.type == "message" and entry.message.role == "assistant" then return entry end
  end
end

-- All places with a name, on every branch, in the order of the session file.
local function bookmarks(ctx)
  local list = {}
  for _, entry in ipairs(ctx.session.entries()) do
    local name = ctx.session.label(entry.id)
    if name then list[#list + 1] = { id = entry.id, name = name, entry = entry } end
  end
  return list
end

-- What a place is about, in a few words.
local function about(entry)
  local message = entry.message or entry
  return text.fit((text.of(message.content or ""):gsub("%s+", " ")), 60)
end

local function mark(ctx, name)
  local entry = last_answer(ctx)
  if not entry then return { status = "there is no answer yet" } end
  assert(pi.set_label(entry.id, name))
  return { status = ("bookmark %q: %s"):format(name, about(entry)) }
end

local function pick(ctx)
  local choices = {}
  for _, place in ipairs(bookmarks(ctx)) do
    choices[#choices + 1] = { value = place.id, label = place.name, description = about(place.entry) }
  end
  if #choices == 0 then return { status = "no bookmarks; /bookmark NAME makes one" } end
  if not ctx.has_ui then
    for i, choice in ipairs(choices) do choices[i] = choice.label .. ": " .. choice.description end
    return { status = table.concat(choices, "\n") }
  end
  local id = ctx.ui.select("Go on from which bookmark?", choices)
  if not id then return end
  ctx.wait_for_idle() -- nothing moves while the agent works
  local moved = assert(ctx.navigate_tree(id))
  if not moved.cancelled then return { status = ("back at %q"):format(ctx.session.label(id)) } end
end

pi.command("bookmark", {
  description = "name the last answer, or go back to one that has a name",
  handler = function(ctx)
    local name = ctx.args_raw:match("^%s*(.-)%s*$")
    if name ~= "" then return mark(ctx, name) end
    return pick(ctx)
  end,
})

pi.command("unbookmark", {
  description = "take the name of a bookmark away",
  handler = function(ctx)
    local name, gone = ctx.args_raw:match("^%s*(.-)%s*$"), 0
    for _, place in ipairs(bookmarks(ctx)) do
      if place.name == name then
        assert(pi.set_label(place.id, nil))
        gone = gone + 1
      end
    end
    return { status = gone > 0 and ("%q is forgotten"):format(name) or ("no bookmark %q"):format(name) }
  end,
})
