-- SSH: the commands of the model and your own run on another machine.
--
--   pi --hook ssh.lua --ssh=me@build.example            in your home directory there
--   pi --hook ssh.lua --ssh=me@build.example:/srv/app   in that directory
--
-- The event "shell" comes when a command has passed every gate, and asks what it is handed
-- to in the place of bash. Here that is ssh, which gives it to the shell over there as it
-- is. The other tools know only the files of this machine, so while --ssh is given the model
-- has bash alone; it reads and writes over there with that.
--
-- Keys come from your agent or your ssh configuration: nobody can be asked for a password.
-- Where the machine cannot be reached the command fails with the words of ssh; it never runs
-- here instead.
--
-- Needs: `ssh`, and a machine that you reach with it.
--
-- Install: pi hooks add example:ssh. Without --ssh it does nothing.

local sh = require "pi.sh"

pi.flag("ssh", { description = "where commands run: HOST or HOST:DIRECTORY", type = "string" })

-- The two parts of --ssh; nil without it. What cannot be a host is an error, and an error in
-- "shell" blocks. A host that begins with - would be an option of ssh.
local function target()
  local given = pi.get_flag("ssh")
  if not given or given == "" then return end
  local host, directory = given:match("^([^:]+):(.+)$")
  host = host or given
  if host:find("^%-") or host:find("[%s:]") then error("--ssh: " .. given .. " is no HOST or HOST:DIRECTORY", 0) end
  return host, directory
end

-- A small script puts the way to the directory before the command, so that the command itself
-- stays as it was seen: $1 is the host, $2 the way, $3 the command, which pi adds.
local SCRIPT = [[exec ssh -T -o BatchMode=yes -o ConnectTimeout=10 -- "$1" "$2$3"]]

pi.on("shell", function()
  local host, directory = target()
  if not host then return end
  local way = directory and "cd " .. sh.quote(directory) .. " || exit\n" or ""
  return { wrap = { "sh", "-c", SCRIPT, "ssh", host, way } }
end)

pi.on("session_start", function(_, ctx)
  local host, directory = target()
  if not host then return end
  pi.set_active_tools { "bash" }
  ctx.ui.set_status("ssh", "ssh " .. host .. (directory and ":" .. directory or ""))
end)

pi.on("before_agent_start", function()
  local host, directory = target()
  if not host then return end
  return { sections = { ssh = "Commands run on the machine " .. host .. ", in " .. (directory or "the home directory")
    .. ". The project is there, not here: read and write its files with commands." } }
end)
