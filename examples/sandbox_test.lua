-- Tests of sandbox.lua: pi test examples/sandbox_test.lua

local fs = require "pi.fs"
local t = require "pi.test"

-- Programs for the sandbox: a bwrap that notes its arguments and runs the command, and says
-- which rights it has when it is asked. What the walls keep is seen with the real one, in
-- e2e/sandbox_linux_test.go.
local function machine(t, options)
  options = options or {}
  t.hook("sandbox.lua")
  local function program(name, text)
    t.file("bin/" .. name, "#!/bin/sh\n" .. text)
    assert(fs.chmod(t.dir() .. "/bin/" .. name, "755"))
  end
  program("bwrap", [[for last; do :; done
[ ]] .. (options.status or 0) .. [[ = 0 ] || { echo "no namespaces" >&2; exit 1; }
case $last in *CapEff*) printf '%s\n' 0 'user:[2]' ]] .. (options.rights or "0000000000000000") .. [[; exit ;; esac
printf '%s\n' "$@" >"]] .. t.dir() .. [[/arguments"
exec sh -c "$last"
]])
  program("flock", "exit 0")
  if options.root then program("id", "echo 0") end
  t.env { PATH = t.dir() .. "/bin:/usr/bin:/bin" }
end

t.case("commands of the model run in the sandbox, as they were seen", function(t)
  machine(t)
  t.model { { tool = "bash", input = { command = [[echo "a  b" >made; cat made]] } }, "done" }
  t.prompt("do it")
  t.equal(t.calls("bash")[1].text, "a  b\n")
  local arguments, project = t.read("arguments"), t.dir()
  t.ok(arguments:find("--ro-bind\n/\n/\n", 1, true), arguments)
  t.ok(arguments:find("--bind\n" .. project .. "\n" .. project .. "\n", 1, true), arguments)
  for _, kept in ipairs { "/.git", "/.pi" } do
    t.ok(arguments:find("--ro-bind\n" .. project .. kept .. "\n", 1, true), arguments)
    t.ok(not fs.exists(project .. kept))
  end
  t.ok(arguments:find("--unshare-net\n", 1, true), arguments)
  t.ok(arguments:find("--new-session\n", 1, true), arguments)
  t.ok(arguments:find('bash\n-c\necho "a  b" >made; cat made\n', 1, true), arguments)
end)

t.case("the network is there if the user wants it", function(t)
  machine(t)
  t.flags { ["sandbox-network"] = true }
  t.tool("bash", { command = "true" })
  t.equal(t.read("arguments"):find("--unshare-net", 1, true), nil)
end)

t.case("commands of the user run as always", function(t)
  machine(t)
  t.shell("touch made")
  t.equal(t.read("made"), "")
  t.equal(t.read("arguments"), nil)
end)

t.case("without a sandbox nothing runs", function(t)
  t.hook("sandbox.lua")
  t.env { PATH = t.dir() .. "/nothing" }
  t.match(t.tool("bash", { command = ": >made" }).text, "hook sandbox%.lua failed: .*there is no sandbox: install bubblewrap %(bwrap%)")
  t.equal(t.read("made"), nil)
  t.equal(t.status().sandbox, "no sandbox: no commands")
end)

t.case("nor in one that does not work", function(t)
  machine(t, { status = 1 })
  t.match(t.tool("bash", { command = ": >made" }).text, "the sandbox does not work: no namespaces")
  t.equal(t.read("made"), nil)
end)

t.case("as root only where root has no rights in it", function(t)
  machine(t, { root = true, rights = "000001ffffffffff" })
  t.match(t.tool("bash", { command = ": >made" }).text, "as root it needs a user namespace that takes root's rights away")
  t.equal(t.read("made"), nil)
end)

t.case("root without rights is nobody", function(t)
  machine(t, { root = true })
  t.tool("bash", { command = ": >made" })
  t.equal(t.read("made"), "")
  t.ok(t.read("arguments"):find("--unshare-user\n--cap-drop\nALL\n", 1, true))
end)

t.case("what git is told to run is kept, and the repository is where it is", function(t)
  machine(t)
  t.shell("git init -q . && git config core.hooksPath tools/hooks && rm -rf .git/info && mkdir -p tools/hooks")
  t.tool("bash", { command = "ls .git; cat .git/commondir" })
  local arguments, project = t.read("arguments"), t.dir()
  for _, kept in ipairs { "config", "config.worktree", "commondir", "hooks", "info", "modules" } do
    t.ok(arguments:find("--ro-bind\n" .. project .. "/.git/" .. kept .. "\n", 1, true), kept)
  end
  for _, pinned in ipairs { ".git", "tools" } do
    t.ok(arguments:find("--bind\n" .. project .. "/" .. pinned .. "\n", 1, true), pinned)
  end
  t.ok(arguments:find("--ro-bind\n" .. project .. "/tools/hooks\n", 1, true))
  t.match(t.calls("bash")[1].text, "commondir\n.*\ninfo\n.*\n%.\n$")
  t.equal({ fs.exists(project .. "/.git/commondir"), fs.exists(project .. "/.git/info"), fs.exists(project .. "/.git/config") }, { false, false, true })
end)

t.case("the status line says that it is on", function(t)
  machine(t)
  t.tool("bash", { command = "true" })
  t.equal(t.status().sandbox, "sandbox")
end)

