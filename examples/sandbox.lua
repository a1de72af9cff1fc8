-- Sandbox: the commands of the model can write into the project, and nowhere else.
--
-- Commands that the model runs are handed to bubblewrap (bwrap, Linux) or to sandbox-exec
-- (macOS): everything can be read, the project and a temporary directory can be written, and
-- there is no network unless you start pi with --sandbox-network. Of the project .git/hooks,
-- .git/config and .pi stay as they are: programs of yours run what stands there.
--
-- Where neither program is, or it does not work, no command of the model runs: an error in
-- the event "shell" blocks. Commands that you type with ! are yours and run as always. So do
-- the programs of hooks (pi.exec), and the tools write and edit are not commands; for those see
-- protected_paths.lua and `confine` in config.toml. Sockets of services that you may use, such
-- as those of docker or an ssh agent, are reached as ever: what serves them is outside.
--
-- Install: copy it to ~/.pi/agent/hooks/, or try it with pi --hook sandbox.lua.

local path, sh = require "pi.path", require "pi.sh"

pi.flag("sandbox-network", { description = "commands in the sandbox reach the network", type = "boolean", default = false })

-- Directories beside the project that commands may write, such as caches of compilers.
local WRITABLE = {}

-- Of the project what commands cannot change.
local KEPT = { ".git/hooks", ".git/config", ".pi" }

-- A copy of a list with more at its end.
local function with(list, ...)
  local copy = { unpack(list) }
  for _, word in ipairs { ... } do copy[#copy + 1] = word end
  return copy
end

-- The session is a new one, so that nothing is typed into your terminal (--new-session).
local function bubblewrap(program, project, network)
  local words = { program, "--die-with-parent", "--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp" }
  local function add(...) for _, word in ipairs { ... } do words[#words + 1] = word end end
  add("--bind", project, project) -- later mounts lie over earlier ones
  for _, dir in ipairs(WRITABLE) do add("--bind-try", dir, dir) end
  for _, name in ipairs(KEPT) do
    local kept = path.join(project, name)
    add("--ro-bind-try", kept, kept)
  end
  add("--ro-bind-try", pi.paths.agent, pi.paths.agent)
  if not network then add("--unshare-net") end
  add("--chdir", project)
  return words
end

-- A profile of sandbox-exec: of rules that fit, the last counts.
local function profile(project, network)
  local function quoted(s) return '"' .. s:gsub('[\\"]', "\\%0") .. '"' end
  local rules = { "(version 1)", "(allow default)", "(deny file-write*)", '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders") (regex #"^/dev/"))' }
  local function add(rule) rules[#rules + 1] = rule end
  for _, dir in ipairs { project, unpack(WRITABLE) } do add("(allow file-write* (subpath " .. quoted(dir) .. "))") end
  for _, name in ipairs(KEPT) do add("(deny file-write* (subpath " .. quoted(path.join(project, name)) .. "))") end
  add("(deny file-write* (subpath " .. quoted(pi.paths.agent) .. "))")
  if not network then add("(deny network*)") end
  return table.concat(rules, "\n")
end

local function find(name)
  local found = pi.exec("sh", { "-c", "command -v " .. sh.quote(name) })
  return found and found.code == 0 and found.stdout:gsub("\n", "") or nil
end

-- What commands are handed to, without the shell. Raises where there is nothing that works.
local function sandbox(project, network)
  local bwrap = find("bwrap")
  local words = bwrap and bubblewrap(bwrap, project, network)
  if not words then
    local mac = find("sandbox-exec")
    if not mac then error("there is no sandbox: install bubblewrap (bwrap)", 0) end
    words = { mac, "-p", profile(project, network) }
  end
  local try, message = pi.exec(words[1], with({ unpack(words, 2) }, "true"))
  if not try or try.code ~= 0 then error("the sandbox does not work: " .. (message or try.stderr), 0) end
  return words
end

local words -- of the sandbox that works; it is looked for before the first command

pi.on("shell", function(event)
  if event.source ~= "tool" then return end
  words = words or sandbox(event.cwd, pi.get_flag("sandbox-network"))
  return { wrap = with(words, "bash", "-c") }
end)
