-- Sandbox: the commands of the model can write into the project, and nowhere else.
--
-- Commands that the model runs are handed to bubblewrap (bwrap, Linux) or to sandbox-exec
-- (macOS): everything can be read, the project and a temporary directory can be written, and
-- there is no network unless you start pi with --sandbox-network. Sockets of services that
-- listen outside of the project, such as those of docker or an ssh agent, are not reached on
-- Linux. What a command leaves in the background ends with it there.
--
-- Git works: add, commit, checkout -b, stash, fetch, rebase. What makes git run something
-- stays as it is (settings, hooks, info, modules, commondir; folders of the project that the
-- settings name for hooks, and files that they include), and so does all of .pi. What is not
-- there cannot be made: while a command runs an empty thing stands in its place, which git
-- and pi take for nothing, and which is gone afterwards. So that the folder of the project does
-- not become a repository itself, that goes for `refs` (or `objects`) and `commondir` in it, too.
-- `git init` and `git config` are yours: type them with !, and not while a command runs: where a
-- file of the walls is replaced outside, the wall over it falls on Linux, and until you have
-- looked no other command runs. Below the top of a repository, and in a submodule, git can only
-- look, since the repository lies outside. docs/security.md has a table of what each of the two
-- programs stops.
--
-- Where neither program is, or it does not work, or git cannot read the repository and its
-- settings (of another owner, too: safe.directory), no command of the model runs: an error in
-- the event "shell" blocks. As root it wants a user namespace in which root can do nothing.
-- Commands that you type with ! are yours and run as always. So do the programs of hooks
-- (pi.exec), and the tools write and edit are not commands; for those see protected_paths.lua
-- and `confine` in config.toml. Tools of hooks that run what their argument `command` says, such
-- as that of processes.lua, are refused, since what they start is not in the sandbox.
--
-- Needs: `bwrap` on Linux, `sandbox-exec` on macOS.
--
-- Install: pi hooks add example:sandbox, or try it with pi --hook sandbox.lua.

local fs, hash, path, sh, text = require "pi.fs", require "pi.hash", require "pi.path", require "pi.sh", require "pi.text"

pi.flag("sandbox-network", { description = "commands in the sandbox reach the network", type = "boolean", default = false })

-- false: where there is no sandbox commands run without one, and the status line says so.
local required = true

-- Directories beside the project that commands may write, such as caches of compilers.
local WRITABLE = {}

-- Sockets outside of the project that commands may reach.
local SOCKETS = {}

-- What makes git run something, by its name in a repository, and what stands in the place of
-- one that is missing: a folder, an empty file, or one that says "here".
local RUNS = {
  { "config", "file" }, { "config.worktree", "file" }, { "commondir", "here" }, { "hooks", "folder" }, { "info", "folder" },
  { "modules", "folder" }, { "branches", "folder" }, { "remotes", "folder" },
}

-- Of /run commands see what names are looked up with, and the programs of NixOS.
local SEEN = { "/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/resolvconf/resolv.conf",
  "/run/NetworkManager/resolv.conf", "/run/current-system" }

local function add(list, ...)
  for _, word in ipairs { ... } do list[#list + 1] = word end
  return list
end

local function below(p, folder) return p == folder or p:sub(1, #folder + 1) == (folder:gsub("/$", "")) .. "/" end

local function find(name)
  local found = pi.exec("sh", { "-c", "command -v " .. sh.quote(name) })
  return found and found.code == 0 and found.stdout:gsub("\n", "") or nil
end

local function agent() return fs.real(pi.paths.agent, { missing = true }) or pi.paths.agent end

-- What stays as it is ---------------------------------------------------------

-- The walls of a project: `keep`, what is read-only; `pin`, the folders that it lies in, which
-- can be written and not moved; both in `order`. `stands` is what takes the place of the first
-- if they are missing when the command starts.
local function new_walls(project)
  return { project = project, order = {}, how = {}, stands = {} }
end

local function wall(walls, p, how)
  if p:find("\n", 1, true) then error(p .. " has a line break in its path, which sandbox.lua cannot keep: move it away, or leave sandbox.lua out here", 0) end
  if not walls.how[p] then add(walls.order, p) end
  if walls.how[p] ~= "keep" then walls.how[p] = how end
end

-- What is at a path. A link would be a way around: it can be replaced whatever it leads to.
local function kind_of(p)
  local info = fs.stat(p, { follow = false })
  if info and info.kind == "link" then
    error(p .. " is a link, which commands could replace; put what it leads to in its place, or leave sandbox.lua out here", 0)
  end
  return info and info.kind
end

local function pin(walls, p)
  kind_of(p)
  wall(walls, p, "pin")
end

-- Keeps a path, and the folders above it where they are. Of a folder that is missing the
-- first part counts.
local function keep(walls, p, missing)
  local at = walls.project
  if not below(p, at) then at = path.dir(p) end
  while at ~= p do
    local rest = p:sub(#at + 1):gsub("^/", "")
    at = path.join(at, rest:match("^[^/]+"))
    local last = at == p or not kind_of(at)
    wall(walls, at, last and "keep" or "pin")
    if last then
      kind_of(at)
      walls.stands[at] = at == p and missing or "folder"
      return
    end
  end
end

-- A repository: what runs something, and of its worktrees what says where they belong.
local function keep_repository(walls, dir)
  if dir ~= walls.project then pin(walls, dir) end
  for _, part in ipairs(RUNS) do keep(walls, path.join(dir, part[1]), part[2]) end
  local trees = path.join(dir, "worktrees")
  for _, tree in ipairs(kind_of(trees) and fs.list(trees) or {}) do
    if tree.kind == "directory" then
      local folder = path.join(trees, tree.name)
      pin(walls, trees)
      pin(walls, folder)
      keep(walls, path.join(folder, "commondir"), "here")
      keep(walls, path.join(folder, "gitdir"), "file")
      keep(walls, path.join(folder, "config.worktree"), "file")
    end
  end
end

local function first_line(file) return (fs.read(file) or ""):match("^[^\r\n]*") end

-- What a file in the place of .git leads to.
local function led_to(project)
  local named = first_line(path.join(project, ".git")):match("^gitdir:%s*(.+)$")
  return named and fs.real(path.abs(named, project))
end

-- The repository that a project is a worktree of, if that says so, too.
local function home_of(project)
  local tree = led_to(project)
  if not tree or fs.real(path.abs(first_line(path.join(tree, "gitdir")), tree)) ~= path.join(project, ".git") then return end
  local home = fs.real(path.abs(first_line(path.join(tree, "commondir")), tree))
  return home == path.dir(path.dir(tree)) and home or nil
end

-- The folder of the project could become a repository itself, which git takes if there is no
-- .git or it is broken. It is none without refs or objects, and with `commondir` a folder none
-- that git can read. HEAD is the last choice: a file of that name is in the way of `git diff HEAD`.
local function keep_top(walls)
  for _, name in ipairs { "refs", "objects", "HEAD" } do
    local p = path.join(walls.project, name)
    if not fs.stat(p, { follow = false }) then
      keep(walls, path.join(walls.project, "commondir"), "folder")
      return keep(walls, p, "folder")
    end
  end
  keep_repository(walls, walls.project)
end

-- What git says of its settings. It is asked anew before each command, since they are in many
-- files, and without an answer no command runs.
local function settings_in(project)
  local ran, message = pi.exec("git", { "config", "--includes", "-z", "--show-origin", "--list" }, { cwd = project })
  if ran and ran.code == 0 then return ran.stdout end
  if not ran and not find("git") then return "" end
  error("git does not say what its settings make it run: " .. text.truncate(message or ran.stderr, { bytes = 1000 }), 0)
end

-- A command could break the repository, so that git says nothing of its settings, and mend it
-- again after it has written what they name.
local function want_repository(project, git)
  if not fs.exists(path.join(git, "config")) then return end
  local ran = pi.exec("git", { "rev-parse", "--absolute-git-dir" }, { cwd = project })
  if not ran and not find("git") or ran and ran.code == 0 and fs.real((ran.stdout:gsub("\n$", ""))) == git then return end
  error("git takes " .. git .. " for no repository: mend it, or move it away. " .. text.truncate(ran and ran.stderr or "", { bytes = 1000 }), 0)
end

-- The folder that paths in the settings begin at.
local function top_of(project)
  local ran = pi.exec("git", { "rev-parse", "--show-toplevel" }, { cwd = project })
  return ran and ran.code == 0 and fs.real((ran.stdout:gsub("\n$", ""))) or project
end

-- Keeps folders of hooks and files of settings that lie in the project because the settings
-- say so, those of the repository that it is a part of as well.
local function keep_named(walls)
  local project = walls.project
  local settings, top = settings_in(project), top_of(project)
  for origin, entry in settings:gmatch("(%Z*)%z(%Z*)%z") do
    local key, value = entry:match("^(.-)\n(.*)$")
    local file = origin:match("^file:(.+)$")
    file = file and path.abs(file, top)
    local named = value and (key == "core.hookspath" and top or key:find("^include.*%.path$") and file and path.dir(file))
    if named then named = path.abs(path.expand(value) or value, named) end
    for _, p in ipairs { file or named, named } do
      if p ~= project and below(p, project) then keep(walls, p, key == "core.hookspath" and "folder" or "file") end
    end
  end
end

local function walls_of(project)
  local walls = new_walls(project)
  local git = path.join(project, ".git")
  local kind = kind_of(git)
  local home = kind == "file" and home_of(project)
  local tree = kind == "file" and led_to(project)
  if kind == "directory" and fs.exists(path.join(git, "HEAD")) then keep_repository(walls, git) else keep(walls, git, "folder") end
  if home then keep_repository(walls, home) end
  if tree and below(tree, project) then keep_repository(walls, tree) end
  keep_top(walls)
  -- With a file that leads to no repository there is nothing that git would do.
  if kind ~= "file" or home or tree and (below(tree, project) or fs.exists(path.join(tree, "HEAD"))) then keep_named(walls) end
  if kind == "directory" then want_repository(project, git) end
  keep(walls, path.join(project, ".pi"), "folder")
  if below(agent(), project) then keep(walls, agent(), "folder") end
  return walls
end

-- bubblewrap ------------------------------------------------------------------

-- Runs bubblewrap with something in the place of what is missing, of which a register tells
-- whoever takes it away: the last of the commands that run at once, or, if that was killed,
-- the next, or the next session. While one runs it has a part in the lock of the register. Folders are made, and
-- taken away, all at once, since each program that is started takes its time.
-- A wall falls when somebody outside replaces what it stands on, as `git config` does with its
-- file: that is noted beside the register, and shuts what comes after.
local AROUND = [[
register=$1; shift
stamps() (
  first=yes
  for word do
    [ $first ] && set -- && first=
    case $word in
      --) break ;;
      /*) set -- "$@" "$word" ;;
    esac
  done
  [ $# = 0 ] || stat -c '%d:%i:%w %n' -- "$@" 2>&1
)
run() {
  while [ "$1" != -- ]; do shift 2; done
  shift
  "$@" 9<&-
}
exec 9<>"$register" && flock -s 9 || exit 126
(
  set -C
  kind=first
  for word do
    if [ $kind = first ]; then set --; kind=; fi
    if [ -z "$kind" ]; then
      [ "$word" = -- ] && break
      kind=$word
      continue
    fi
    if ! [ -e "$word" ] && ! [ -L "$word" ]; then
      printf '%s %s\n' "$kind" "$word" >>"$register"
      case $kind in
        folder) set -- "$@" "$word" ;;
        here) echo . >"$word" ;;
        file) printf '' >"$word" ;;
      esac
    fi
    kind=
  done
  [ $# = 0 ] || mkdir "$@"
) 2>/dev/null
kind=
for word do
  [ -z "$kind" ] && { [ "$word" = -- ] && break; kind=$word; continue; }
  [ -e "$word" ] || { echo "the sandbox cannot make $word, in whose place nothing may be made" >&2; exit 126; }
  kind=
done
trap : HUP INT TERM PIPE
before=$(stamps "$@")
run "$@"
status=$?
after=$(stamps "$@")
if [ "$before" != "$after" ]; then
  status=126
  fallen=$(printf '%s\n' "$before" | while read -r line; do
    case "
$after
" in *"
$line
"*) ;; *) printf '%s\n' "/${line#* /}" ;; esac
  done)
  printf '%s\n' "$fallen" >>"$register-fallen"
  printf 'the sandbox had a gap: somebody outside replaced this while the command ran, which could write to it from then on:\n%s\n' "$fallen" >&2
fi
[ -s "$register" ] && flock -n -x 9 || exit $status
set --
while read -r kind at; do
  [ -L "$at" ] && continue
  line=; more=
  [ "$kind" != folder ] && [ -f "$at" ] && { read -r line; read -r more; } <"$at"
  case $kind:$line:$more in
    folder::) set -- "$at" "$@" ;; # what lies in another goes first
    here:.: | file::) rm -f "$at" ;;
  esac
done <"$register"
[ $# = 0 ] || rmdir "$@" 2>/dev/null
: >"$register"
exit $status
]]

-- The sockets on which something outside of the project listens. Those in /run and /tmp are
-- not seen in the sandbox anyway.
local function sockets(project)
  local list, open = {}, {}
  for _, p in ipairs(SOCKETS) do open[p] = true end
  for flags, named in assert(fs.read("/proc/net/unix")):gmatch("%x+: %x+ %x+ (%x+) %x+ %x+ +%d+ (/[^\n]+)") do
    local p = flags == "00010000" and fs.real(named) -- a mount is put in no place behind a link
    local info = p and not open[p] and not open[named] and fs.stat(p)
    if info and info.kind == "other" and not below(p, project) and not below(p, "/run") and not below(p, "/tmp") then
      open[p] = true
      add(list, p)
    end
  end
  return list
end

local function register_of(project) return path.join(agent(), "sandbox", hash.sha256(project):sub(1, 16)) end

-- Takes away what a command that was killed has left.
local function tidy(project)
  local info = fs.stat(register_of(project))
  if info and info.size > 0 then pi.exec("sh", { "-c", AROUND, "sandbox", register_of(project), "--", "true" }) end
end

-- Where nothing can be written. The session is a new one, so that nothing is typed into your
-- terminal (--new-session).
local function bare(backend)
  local words = { backend.program, "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc",
    "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run" }
  return backend.root and add(words, "--unshare-user", "--cap-drop", "ALL") or words
end

local function bubblewrap(backend, project, network)
  local register, walls = register_of(project), walls_of(project)
  assert(fs.mkdir(path.dir(register), { parents = true }))
  local fallen = fs.read(register .. "-fallen")
  if fallen then
    error("somebody outside replaced this while a command ran, which could write to it from then on:\n" .. fallen
      .. "look at it, with !git config --list --show-origin for settings; commands run again after !rm " .. sh.quote(register .. "-fallen"), 0)
  end
  local words = { "sh", "-c", AROUND, "sandbox", register }
  for _, p in ipairs(walls.order) do
    add(words, walls.how[p] == "keep" and walls.stands[p] or "pin", p)
  end
  add(words, "--", unpack(bare(backend))) -- later mounts lie over earlier ones
  for _, p in ipairs(SEEN) do add(words, "--ro-bind-try", p, p) end
  for _, p in ipairs(sockets(project)) do add(words, "--ro-bind", "/dev/null", p) end
  for _, p in ipairs(SOCKETS) do add(words, "--bind-try", p, p) end
  add(words, "--ro-bind", agent(), agent(), "--bind", project, project)
  for _, dir in ipairs(WRITABLE) do add(words, "--bind-try", dir, dir) end
  for _, p in ipairs(walls.order) do add(words, walls.how[p] == "pin" and "--bind" or "--ro-bind", p, p) end
  add(words, "--tmpfs", path.dir(register))
  if not network then add(words, "--unshare-net") end
  return add(words, "--chdir", project)
end

-- sandbox-exec ----------------------------------------------------------------

-- A profile: of rules that fit, the last counts. What is missing is denied as well.
local function profile(project, network)
  local walls = walls_of(project)
  local function quoted(s) return '"' .. s:gsub('[\\"]', "\\%0") .. '"' end
  local rules = { "(version 1)", "(allow default)", "(deny file-write*)", '(allow file-write* (subpath "/private/tmp") (subpath "/private/var/folders") (regex #"^/dev/"))' }
  for _, dir in ipairs { project, unpack(WRITABLE) } do add(rules, "(allow file-write* (subpath " .. quoted(dir) .. "))") end
  for _, p in ipairs(walls.order) do
    local pinned = walls.how[p] == "pin"
    if pinned and not below(p, project) then add(rules, "(allow file-write* (subpath " .. quoted(p) .. "))") end
    add(rules, pinned and "(deny file-write-unlink (literal " .. quoted(p) .. "))" or "(deny file-write* (subpath " .. quoted(p) .. "))")
  end
  add(rules, "(deny file-write* (subpath " .. quoted(agent()) .. "))")
  if not network then add(rules, "(deny network*)") end
  return table.concat(rules, "\n")
end

-- Which of the two ---------------------------------------------------------------

-- Who runs, which user namespace it is, and what root can do in it.
local WHO = "id -u; readlink /proc/self/ns/user; sed -n 's/^CapEff:[[:blank:]]*//p' /proc/self/status"

-- What is wrong with a sandbox for root that says this of itself, or nil. Root of the
-- machine takes walls down, and so may root with rights in a namespace.
local function wrong_as_root(inside, outside)
  local namespace, rights = inside:match("^%d+\n(%S+)\n(%x+)\n")
  if namespace and namespace ~= outside:match("^%d+\n(%S+)\n") and rights:find("^0+$") then return end
  return "as root it needs a user namespace that takes root's rights away, and there is none here: run pi as an ordinary user"
end

-- The backend that works, or nil and why there is none.
local function backend_of()
  local bwrap = find("bwrap")
  local program = bwrap or find("sandbox-exec")
  if not program then return nil, "there is no sandbox: install bubblewrap (bwrap)" end
  if bwrap and not find("flock") then return nil, "the sandbox does not work: install flock (util-linux), for commands that run at once" end
  local outside = assert(pi.exec("sh", { "-c", WHO })).stdout
  local backend = { program = program, mac = not bwrap, root = outside:find("^0\n") ~= nil }
  local words = backend.mac and { program, "-p", "(version 1)(allow default)(deny file-write*)" } or bare(backend)
  local try, message = pi.exec(words[1], add({ unpack(words, 2) }, "sh", "-c", WHO))
  local wrong = message or try.code ~= 0 and try.stderr
  if not wrong and bwrap and backend.root then wrong = wrong_as_root(try.stdout, outside) end
  if wrong then return nil, "the sandbox does not work: " .. text.truncate(wrong, { bytes = 1000 }) end
  return backend
end

local backend, why = nil, nil -- why there is none; looked for at the start, and then before each command

pi.on("session_start", function(_, ctx)
  if not backend then backend, why = backend_of() end
  if backend and not backend.mac then tidy(fs.real(pi.paths.project) or pi.paths.project) end
  ctx.ui.set_status("sandbox", backend and "sandbox" or required and "no sandbox: no commands" or "no sandbox")
  if why then ctx.ui.notify(why, "warning") end
end)

pi.on("shell", function(event, ctx)
  if event.source ~= "tool" then return end
  if not backend then
    backend, why = backend_of()
    if why and required then error(why, 0) end
    if why then return end
    ctx.ui.set_status("sandbox", "sandbox")
  end
  local project = assert(fs.real(event.cwd))
  if project:find("\n", 1, true) then error("the path of the project has a line break", 0) end
  local network = pi.get_flag("sandbox-network")
  if backend.mac then return { wrap = { backend.program, "-p", profile(project, network), "bash", "-c" } } end
  return { wrap = add(bubblewrap(backend, project, network), "bash", "-c") }
end)

-- What hooks start does not come by the event "shell".
pi.on("tool_call", function(event)
  if not required or event.tool_name == "bash" or event.annotations.kind ~= "execute" or event.input.command == nil then return end
  return { block = true, reason = "commands of the tool " .. event.tool_name .. " run outside of the sandbox: take bash" }
end)
