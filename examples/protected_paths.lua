-- Protected paths: files with secrets and the insides of .git and node_modules are
-- neither read nor written unless a person says yes; without a person they never are.
--
-- For tools that take a path it counts as it is written and as it is on the disk,
-- with symbolic links and ".." followed. In a shell command every word counts
-- that could be such a path, also inside of quotes and options. A command whose
-- words cannot be known before it runs, or that goes to another directory, is
-- asked about as well.
--
-- This keeps a model from doing it by accident. A search through a whole
-- directory may still show a line of such a file (redact.lua covers secrets), and
-- a program that the model writes and runs can open any file that you can.
--
-- Install: copy it to ~/.pi/agent/hooks/, or try it with pi --hook protected_paths.lua.

local fs = require "pi.fs"
local path = require "pi.path"
local sh = require "pi.sh"

-- Names, in small letters, that protect what they fit and all that is below it.
local PROTECTED = {
  ".env", ".env.*", ".envrc", ".git", ".ssh", ".gnupg", ".aws", ".netrc", ".npmrc", ".pypirc", "node_modules",
  "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "?*.pem", "?*.key", "?*.p12", "?*.pfx", "?*.kdbx",
}

-- Names that look like it and are meant to be seen.
local OPEN = { [".env.example"] = true, [".env.sample"] = true, [".env.template"] = true }

-- The first part of a path that is protected, or nil.
local function protected_part(p)
  for _, part in ipairs(path.split(p)) do
    part = part:lower()
    for _, pattern in ipairs(PROTECTED) do
      if path.match(part, pattern) and not OPEN[part] then return part end
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

local function guarded_word(word)
  for _, piece in ipairs(pieces(word)) do
    local why = guarded(piece)
    if why then return why end
  end
end

local MOVES = { cd = true, pushd = true, popd = true, chroot = true }

local function guarded_command(line)
  local commands, message = sh.commands(line)
  if not commands then return message end
  for _, command in ipairs(commands) do
    for _, word in ipairs(command.words) do
      local why = word and guarded_word(word)
      if why then return why end
    end
    for _, redirect in ipairs(command.redirects) do
      local why = redirect.path and guarded_word(redirect.path)
      if why then return why end
    end
    if MOVES[command.name or ""] then return "it goes to another directory" end
  end
  if commands.unknown then return "what it touches cannot be known before" end
end

local function guarded_call(event)
  if event.tool_name == "bash" then return guarded_command(event.input.command) end
  local p = event.input.path
  if type(p) == "string" then return guarded(path.clean((p:gsub("^@", "")))) end
end

pi.on("tool_call", function(event, ctx)
  local why = guarded_call(event)
  if not why then return end
  if not ctx.has_ui then
    return { block = true, reason = why .. "; a person would have to allow it" }
  end
  local what = event.input.command or event.tool_name .. " " .. event.input.path
  if not ctx.ui.confirm("Allow this? " .. why, what) then
    return { block = true, reason = "the user did not allow this: " .. why }
  end
end)
