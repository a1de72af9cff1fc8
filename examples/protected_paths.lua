-- Protected paths: files with secrets and the insides of .git and node_modules are neither
-- read nor written unless the user says yes. Without a user they never are. It is a net
-- against accidents.
--
-- For tools that take a path it counts as it is written and as it is on the disk, with
-- symbolic links and ".." followed, and in whatever letters the file system takes for the
-- same. Rows of grep, find and ls that show such a file are taken out of the result. In a
-- shell command every word is asked about that contains such a name, also inside of quotes
-- and options; so is an option that takes files from a list (-T, --files0-from, @file, and those
-- of curl, wget and zip) or goes to another folder (-C, --git-dir, npm --prefix), cd, and a
-- command whose words cannot be known before it runs. Such options of other programs it does
-- not know.
--
-- A net has holes: grep -r in a command shows lines of such files as of all others (redact.lua
-- covers secrets), a pattern fits them, and a program that the model writes and runs can open
-- any file that you can. The wall is sandbox.lua, for what is written; what must not be read
-- should not be on the machine.
--
-- Install: pi hooks add example:protected_paths, or try it with pi --hook protected_paths.lua.

local fs = require "pi.fs"
local path = require "pi.path"
local re = require "pi.re"
local sh = require "pi.sh"

-- Names, in small letters, that protect what they fit and all that is below it.
local PROTECTED = {
  ".env", ".env.*", ".envrc", ".git", ".git-credentials", ".ssh", ".gnupg", ".aws", ".netrc", ".npmrc", ".pypirc", "node_modules",
  "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "?*.pem", "?*.key", "?*.p12", "?*.pfx", "?*.kdbx",
}

-- Names that look like it and are meant to be seen.
local OPEN = { [".env.example"] = true, [".env.sample"] = true, [".env.template"] = true }

-- Letters that a file system may take for others, and those that it may not look at. These are
-- all that become letters of ASCII.
local FOLDED = {
  ["\226\132\170"] = "k", -- the Kelvin sign
  ["\197\191"] = "s", ["\195\159"] = "ss", ["\225\186\158"] = "ss", -- long s, sharp s
  ["\239\172\128"] = "ff", ["\239\172\129"] = "fi", ["\239\172\130"] = "fl", ["\239\172\131"] = "ffi",
  ["\239\172\132"] = "ffl", ["\239\172\133"] = "st", ["\239\172\134"] = "st", -- ligatures
}
local UNSEEN = [[[\x{AD}\x{34F}\x{61C}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{200B}-\x{200F}\x{202A}-\x{202E}\x{2060}-\x{206F}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{FFF0}-\x{FFF8}\x{E0000}-\x{E0FFF}]+]]

local function fold(name)
  if not name:find("[\128-\255]") then return name:lower() end
  return (re.replace(name, UNSEEN, ""):gsub("[\194-\244][\128-\191]+", FOLDED):lower())
end

-- The first part of a path that is protected, or nil. Blanks and dots at its end are nothing
-- to some file systems, and neither is what follows a colon.
local function protected_part(p)
  for _, part in ipairs(path.split(fold(p))) do
    local name = part:gsub(":.*", ""):gsub("[. ]+$", "")
    for _, pattern in ipairs(PROTECTED) do
      if (path.match(part, pattern) or path.match(name, pattern)) and not OPEN[part] then return part end
    end
  end
end

-- Why a path is not to be touched, or nil. It counts where it leads, though it may
-- be yet to be made.
local function guarded(p)
  if p == "" then return end
  p = path.expand(p) or p
  local part = protected_part(p)
  if part then return part .. " is protected" end
  local real, err = fs.real(p, { missing = true })
  if not real then return err end
  part = protected_part(real)
  if part then return p .. " is really in " .. part .. ", which is protected" end
end

-- The pieces of a word that could be paths: of= and --file= are cut off, quotes
-- and brackets as of a script end one.
local function pieces(word)
  local list = { word }
  for piece in word:gmatch("[^%s\"'`=:,;()<>|&{}%[%]]+") do table.insert(list, piece) end
  local option = word:match("^%-%a(.+)$")
  if option then table.insert(list, option) end
  return list
end

-- Expressions for the names, wherever they stand in a word: .env ends before another letter.
local CONTAINED = {}
for i, pattern in ipairs(PROTECTED) do
  local name, open = pattern:gsub("%*$", "")
  name = re.escape((name:gsub("^%?%*", "?"))):gsub("\\%?", "[^\\s/]")
  CONTAINED[i] = "(" .. name .. (open > 0 and "[0-9a-z_.-]*" or [[\.*]]) .. ")(?:$|[^0-9a-z_.-])"
end

-- The address of a repository ends in .git, which is no folder there.
local function without_address(word)
  if word:find("^%a[%w+.-]*://") or word:find("^[%w._-]+@[%w.-]+:") then return (word:gsub("(%w)%.git/?$", "%1")) end
  return word
end

local function guarded_word(word)
  word = without_address(word)
  for _, piece in ipairs(pieces(word)) do
    local why = guarded(piece)
    if why then return why end
  end
  local folded = fold(word)
  for _, expression in ipairs(CONTAINED) do
    for _, found in ipairs(re.find_all(folded, expression)) do
      local name = found[1]
      if not OPEN[name] then return name .. " is protected" end
    end
  end
end

-- Commands to whom these letters, and @, mean something else.
local OTHERWISE = {}
for name in ("grep egrep fgrep rg ag ls ps diff sort ssh docker podman rustc"):gmatch("%S+") do OTHERWISE[name] = "TC" end
for name in ("npm npx pnpm yarn bun bunx deno git gh"):gmatch("%S+") do OTHERWISE[name] = "@" end
OTHERWISE.cat = "T"

-- Commands in which these letters may be behind others, as in tar -xzC.
local CLUSTERS = { tar = true, gtar = true, bsdtar = true, make = true, gmake = true, ninja = true, env = true }

-- Long options that name a list or a folder, and how many letters of them are enough.
local LISTS = {
  directory = 3, chdir = 3, cwd = 3, ["work-tree"] = 4, ["files-from"] = 5, ["files0-from"] = 5, ["pathspec-from-file"] = 9, ["arg-file"] = 3,
}

-- The same of single commands: letters, behind such as have no value, and long options.
local OWN = {
  curl = { "^%-[#0-9BGIJLMNORSZafgijklnpqsv]*K", "^%-%-conf" },
  wget = { "^%-[46EFHKLNSbcdkmnpqrvx]*i", "^%-%-input%-f" },
  zip = { "^%-%a*@" }, npm = { "^%-%-pre" }, pnpm = { "^%-%-dir" }, git = { "^%-%-git%-dir=" },
}

-- Why a word says that a command takes files that are not in the line, or nil.
local function indirect(command, word, i)
  local otherwise = OTHERWISE[command.name or ""] or ""
  local long, letters = word:match("^%-%-([%w-]+)"), word:match(CLUSTERS[command.name or ""] and "^%-(%a+)" or "^%-(%a)")
  if i == 1 and (command.name or ""):find("tar$") then letters = letters or word:match("^%a+$") end
  for option, enough in pairs(long and LISTS or {}) do
    if #long >= enough and option:sub(1, #long) == long then return "--" .. option .. " names a list or a folder" end
  end
  for _, option in ipairs(OWN[command.name or ""] or {}) do
    if word:find(option) then return word .. " names a list or a folder" end
  end
  if command.name == "git" and i == 1 and word == "--git-dir" then return "--git-dir names a folder" end
  letters = letters or ""
  if letters:find("T") and not otherwise:find("T") then return "-T takes files from a list" end
  if letters:find("C") and not otherwise:find("C") then return "-C goes to another folder" end
  if (word:find("^@[^{~^]") or word:find("=@.") or word:find("^%-%a@.")) and not otherwise:find("@") then return word .. " takes what is in a file" end
end

local MOVES = { cd = true, pushd = true, popd = true, chroot = true }
local READERS = { cpio = true, pax = true } -- of a list of files

local function guarded_command(line)
  local commands, message = sh.commands(line)
  if not commands then return message end
  for _, command in ipairs(commands) do
    for i, word in ipairs(command.words) do
      local why = guarded_word(word) or i > 1 and indirect(command, word, i - 1)
      if why then return why end
    end
    for _, redirect in ipairs(command.redirects) do
      local why = guarded_word(redirect.path)
      if why then return why end
    end
    if MOVES[command.name or ""] then return "it goes to another directory" end
    if READERS[command.name or ""] then return command.name .. " takes files from a list" end
  end
  if commands.unknown then
    return ("what it touches cannot be known before: %s: %s"):format(commands.unknown_text, commands.unknown_why)
  end
end

-- Whether the plain letters of a name are, in their order, among those of another.
local function among(few, many)
  local at = 0
  for letter in few:gmatch("%w") do
    at = many:find(letter, at + 1, true)
    if not at then return false end
  end
  return true
end

-- The paths that an argument of a tool may mean: @ in front is dropped unless a file is called
-- so, and what is not there may be what looks like it, with other blanks or forms of letters.
local function meant(arg)
  local list = { path.clean(arg), path.clean((arg:gsub("^@", ""))) }
  for n = 1, 2 do
    local dir, name = path.dir(list[n]), path.base(list[n])
    for _, entry in ipairs(not fs.exists(path.expand(list[n]) or list[n]) and fs.list(path.expand(dir) or dir) or {}) do
      local alike = (name .. entry.name):find("[\128-\255]") and (among(name, entry.name) or among(entry.name, name))
      if alike then list[#list + 1] = path.join(dir, entry.name) end
    end
  end
  return list
end

local function guarded_call(event)
  local line, p = event.input.command, event.input.path
  if event.tool_name == "bash" or event.annotations.kind == "execute" and type(line) == "string" then return guarded_command(line) end
  for _, each in ipairs(type(p) == "string" and meant(p) or {}) do
    local why = guarded(each)
    if why then return why end
  end
end

local allowed = {} -- calls that the user said yes to, by id

pi.on("tool_call", function(event, ctx)
  local why = guarded_call(event)
  if not why then return end
  if not ctx.has_ui then
    return { block = true, reason = why .. "; a user would have to allow it" }
  end
  local what = event.input.command or event.tool_name .. " " .. event.input.path
  if not ctx.ui.confirm("Allow this? " .. why, what) then
    return { block = true, reason = "the user did not allow this: " .. why }
  end
  allowed[event.tool_call_id] = true
end)

-- What a row of a search is about: of ls a name in a folder, of find a path, of grep a path
-- before the number of a line. A path may look as if it ended earlier, so all such ends count.
local function shows_protected(tool, row, dirs, known)
  local function counts(p)
    if known[p] == nil then known[p] = guarded(p) ~= nil end
    return known[p]
  end
  for _, dir in ipairs(tool == "ls" and dirs or {}) do
    if counts(path.join(dir, row)) then return true end
  end
  if tool == "ls" then return false end
  if tool == "find" then return counts(row) end
  for at in row:gmatch("()[:-]%d+[:-] ") do
    if counts(row:sub(1, at - 1)) then return true end
  end
  return false
end

local SEARCHES = { grep = true, find = true, ls = true }

pi.on("tool_result", function(event)
  local yes = allowed[event.tool_call_id]
  allowed[event.tool_call_id] = nil
  if yes or event.is_error or not SEARCHES[event.tool_name] then return end
  local out, known, dirs = 0, {}, meant(event.input.path or ".")
  for _, block in ipairs(event.content) do
    local rows = {}
    for row in ((block.text or "") .. "\n"):gmatch("(.-)\n") do
      if row ~= "" and shows_protected(event.tool_name, row, dirs, known) then out = out + 1 else rows[#rows + 1] = row end
    end
    if block.text then block.text = table.concat(rows, "\n") end
  end
  if out == 0 then return end
  table.insert(event.content, { type = "text", text = ("[rows that show protected files are left out: %d]"):format(out) })
  return { content = event.content }
end)
