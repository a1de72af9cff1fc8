-- Redact: secrets in what tools give back are covered before the model and the
-- session file see them.
--
-- It covers what looks like a key, a token, a password or a private key, in the
-- text of a result and in its details, of failed calls too. Of a private key it covers the
-- inside as well where its first line is not shown: lines of base64 that are as wide as those
-- of a key, the line behind them, and what stands before the last line; read from the third
-- line, or found by grep, which looks into the file. Other base64 of that width is covered
-- with it, certificates and public keys are not. Of details what is called password, token
-- and so on is covered, too.
--
-- The last line of a key is short. Where it is shown alone, it is known by the file that it was
-- read from or found in, as the disk has it then, up to 64 MiB; a command that shows nothing
-- else of the key shows that line.
--
-- It does not see what you type yourself, and not the log file that the shell tool keeps of a
-- long output; while a command runs you see its output as it is. It cannot know every secret:
-- add the shapes of yours to PATTERNS.
--
-- Install: pi hooks add example:redact, or try it with pi --hook redact.lua.

local fs = require "pi.fs"
local path = require "pi.path"
local re = require "pi.re"
local text = require "pi.text"

-- Regular expressions of your own secrets, such as "corp-[0-9a-f]{32}".
local PATTERNS = {}

local COVER = "[redacted]"
local found

-- Private keys -----------------------------------------------------------------

local function count(s, class) return select(2, s:gsub(class, "")) end

-- Whether a run of letters of base64 is wide and mixed as a line of a key is, and no path and
-- no name.
local function is_inside(run)
  return count(run, "%d") >= 2 and count(run, "%u") >= 5 and count(run, "%l") >= 5 and count(run, "/") <= 8
end

-- A row that ends in a word of base64: what is before it, as a diff, grep or a list has it,
-- and after it. `shape` is what is before without the number of the line.
local function row_of(row)
  local first, _, word, after = row:find("(=?[%w+/]+=*)([^%w+/=]*)$")
  if not first then return end
  local before = row:sub(1, first - 1)
  return { before = before, word = word, after = after, shape = (before:gsub("%d+", "0")) }
end

-- Covers the insides of private keys in a text. of_key says of a row, and of the word
-- that it ends in, that a file has this in such a key.
local function without_insides(value, of_key)
  local rows, shape, public = {}, nil, false
  for row in (value .. "\n"):gmatch("(.-)\n") do rows[#rows + 1] = row end
  local function hide(i, r)
    rows[i] = r.before .. COVER .. r.after
    found = found + 1
  end
  for i, row in ipairs(rows) do
    local r = row_of(row)
    if row:find("-----BEGIN ", 1, true) then public = not row:find("PRIVATE KEY", 1, true) end
    local covered = row
    if not public and not row:find("ssh%-%w+ ") and not row:find("ecdsa%-sha2") then
      covered = re.replace(row, "[A-Za-z0-9+/]{60,}={0,2}", function(m) if is_inside(m.text) then return COVER end end)
    end
    if covered ~= row then
      shape = r and r.shape
      rows[i], found = covered, found + 1
    elseif r and not public and (shape and r.shape == shape or of_key(row, r.word)) then
      hide(i, r)
      shape = nil
    else
      shape = nil
    end
    if row:find("-----END ", 1, true) then
      local last = row:match("^(.-)%-%-%-%-%-END ")
      for j = row:find("PRIVATE KEY", 1, true) and i - 1 or 0, 1, -1 do
        local before = not rows[j]:find(COVER, 1, true) and row_of(rows[j])
        if not before or before.shape ~= last:gsub("%d+", "0") then break end
        hide(j, before)
      end
      public = false
    end
  end
  return table.concat(rows, "\n")
end

-- Whether a name may be the one that `read` takes for another, of which the blanks, quotes,
-- dashes or forms of letters differ: the plain letters of one are among those of the other.
local function may_mean(name, other)
  local function among(few, many)
    local at = 0
    for letter in few:gmatch("%w") do
      at = many:find(letter, at + 1, true)
      if not at then return false end
    end
    return true
  end
  return among(name, other) or among(other, name)
end

-- The files that an argument may mean to `read`: @ in front is dropped unless a file is called
-- so, and what is not there may be what looks like it.
local function files_of(arg)
  local list = {}
  for _, name in ipairs { arg, (arg:gsub("^@", "")) } do
    local file = path.clean(path.expand(name) or name)
    list[#list + 1] = file
    for _, entry in ipairs(not fs.exists(file) and fs.list(path.dir(file)) or {}) do
      if may_mean(path.base(file), entry.name) then list[#list + 1] = path.join(path.dir(file), entry.name) end
    end
  end
  return list
end

-- Adds the lines inside of the private keys of a file to a set. Most of a long file is not
-- taken apart: that would take too long.
local function add_lines_inside(file, set)
  local body, at = fs.read(file) or "", 1
  while true do
    local first, last = body:find("PRIVATE KEY", at, true)
    if not first then return end
    at = last + 1
    if body:sub(math.max(1, first - 80), first):find("%-%-%-%-%-BEGIN [^\n]*$") then
      at = body:find("-----END ", at, true) or #body + 1
      for line in body:sub(last + 1, math.min(at - 1, last + 1000000)):gmatch("[^\n]+") do set[line:match("^%s*(.-)%s*$")] = true end
    end
  end
end

-- Whether a row of a result is such a line: read is of one file, grep says in each row which
-- it is.
local function key_rows(event)
  local known = {}
  return function(row, word)
    local file = event.tool_name == "grep" and row:match("^(.-)[:-]%d+[:-] ") or event.tool_name == "read" and event.input.path
    if type(file) ~= "string" then return false end
    if not known[file] then
      known[file] = {}
      for _, each in ipairs(files_of(file)) do add_lines_inside(each, known[file]) end
    end
    return known[file][word] == true
  end
end

-- All secrets --------------------------------------------------------------------

local function cover_text(value, of_key)
  local covered, count = text.redact(value, { patterns = PATTERNS })
  found = found + count
  return without_insides(covered, of_key)
end

-- Whether a value is a secret because of what it is called: some value would be, and this is
-- not one that never is, such as a number of tokens.
local function is_called_secret(name, value)
  if type(name) ~= "string" or type(value) ~= "string" then return false end
  local function covered(word) return select(2, text.redact(name .. ": " .. word)) > 0 end
  return covered("x1") and covered(value:match("%S+") or "")
end

local function all_texts(list)
  for _, value in ipairs(list) do
    if type(value) ~= "string" or value:find("\n", 1, true) then return false end
  end
  return #list > 1
end

local function cover(value, of_key)
  if type(value) == "string" then return cover_text(value, of_key) end
  if type(value) ~= "table" then return value end
  local copy = {}
  if all_texts(value) then -- lines, of which several may be one secret
    for line in (cover_text(table.concat(value, "\n"), of_key) .. "\n"):gmatch("(.-)\n") do copy[#copy + 1] = line end
    return copy
  end
  for key, inner in pairs(value) do
    if key == "data" and value.type == "image" then
      copy[key] = inner
    elseif is_called_secret(key, inner) then
      copy[key], found = COVER, found + 1
    else
      copy[key] = cover(inner, of_key)
    end
  end
  return copy
end

pi.on("tool_result", function(event, ctx)
  found = 0
  local of_key = key_rows(event)
  local content, details = cover(event.content, of_key), cover(event.details, of_key)
  if found == 0 then return end
  ctx.ui.notify(("secrets covered in the result of %s: %d"):format(event.tool_name, found), "warning")
  return { content = content, details = details }
end)
