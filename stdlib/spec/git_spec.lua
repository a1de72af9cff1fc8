t.fails("not a git repository", git.root())
t.fails("not a git repository", git.branch())
t.fails("not a git repository", git.status())
t.fails("git: ", git.diff{ base = "nothing" })
t.fails("not a git repository", git.remotes())
t.run("git", "init", "-q", "-b", "trunk")
t.equal(#git.remotes(), 0)
t.run("git", "remote", "add", "upstream", "git@example.com:a/b.git")
t.run("git", "remote", "add", "own.fork", "https://me:a-token@example.com/me/b")
t.run("git", "remote", "set-url", "--push", "own.fork", "ssh://git@example.com/me/b")
-- an address of several lines is one address
t.run("git", "config", "remote.evil.url", "https://a.example/\norigin\thttps://good.example (fetch)")
local remotes = git.remotes()
t.equal({ #remotes, remotes[1].name, remotes[2].name, remotes[3].name }, { 3, "evil", "own.fork", "upstream" })
t.equal({ remotes[2].url, remotes[2].push_url }, { "https://example.com/me/b", "ssh://git@example.com/me/b" })
t.equal({ remotes[3].url, remotes[3].push_url == nil }, { "git@example.com:a/b.git", true })
t.raises(function() git.remotes{ cwdd = "." } end, 'did you mean "cwd"?')
t.run("git", "config", "user.email", "a@example.com")
t.run("git", "config", "user.name", "a")
local fs = require "pi.fs"
fs.write("a", "1\n")
fs.write("sub/b c", "2\n", { mkdir = true })
t.run("git", "add", "a")
t.run("git", "commit", "-q", "-m", "one")
t.equal(git.root(), t.dir)
t.equal(git.root{ cwd = "sub" }, t.dir)
t.equal(git.branch(), "trunk")
local s = git.status()
t.equal({ #s, s[1].path, s[1].index, s[1].worktree }, { 1, "sub/b c", "?", "?" })
t.run("git", "mv", "a", "a2")
fs.write("a2", "1\n2\n")
s = git.status()
t.equal({ s[1].path, s[1].from, s[1].index, s[1].worktree }, { "a2", "a", "R", "M" })
t.equal(git.diff():find("+2", 1, true) ~= nil, true)
t.equal(git.diff{ staged = true }:find("rename to a2", 1, true) ~= nil, true)
t.equal(git.diff{ base = "HEAD", paths = { "sub" } }, "")
-- whatever program the settings of a repository name, reading runs none of them
fs.write("evil", "#!/bin/sh\ntouch '" .. t.dir .. "/ran'\ncat\n")
t.run("chmod", "755", "evil")
local evil = t.dir .. "/evil"
local function quiet(what)
  fs.write("a2", "1\n2\n" .. what .. "\n") -- changed, so that git has to look into it
  t.equal({ what, git.branch(), git.root() == t.dir, #git.status() > 0, #git.diff() > 0, #git.diff{ base = "HEAD" } > 0, #git.diff{ staged = true } > 0 },
    { what, "trunk", true, true, true, true, true })
  t.equal({ what, fs.exists("ran") }, { what, false })
end
for _, name in ipairs { "filter.x.clean", "filter.x.smudge", "filter.x.process", "filter.x.y.clean", "filter.a=b.process", "diff.x.command", "diff.x.textconv",
  "diff.external", "core.fsmonitor", "core.pager", "pager.status", "core.sshCommand", "core.askPass", "core.editor", "core.alternateRefsCommand",
  "credential.helper", "gpg.program", "alias.status", "alias.diff", "interactive.diffFilter", "hook.x.command" } do
  local filter = name:match("^filter%.(.*)%.")
  fs.write(".gitattributes", "* filter=" .. (filter or "x") .. " diff=x\n")
  t.run("git", "config", name, (name:match("^alias") and "!" or "") .. evil)
  if filter then t.run("git", "config", "filter." .. filter .. ".required", "true") end
  if name:find("=") then
    t.fails("a filter with a = in its name", git.status())
    t.equal(fs.exists("ran"), false)
    t.run("git", "config", "--remove-section", "filter." .. filter)
  else
    quiet(name)
  end
end
for _, hook in ipairs { "post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout", "pre-commit" } do
  fs.write(".git/hooks/" .. hook, fs.read("evil"), { mkdir = true })
  t.run("chmod", "755", ".git/hooks/" .. hook)
end
quiet("hooks")
t.run("git", "config", "core.hooksPath", t.dir .. "/.git/hooks")
quiet("hooksPath")
-- what is missing is not fetched, for fetching runs programs
t.run("git", "config", "core.repositoryFormatVersion", "1")
t.run("git", "config", "extensions.partialClone", "origin")
t.run("git", "config", "remote.origin.url", "ssh://localhost/none")
t.run("git", "config", "remote.origin.uploadpack", evil)
t.run("git", "config", "protocol.allow", "always")
t.run("git", "config", "protocol.ssh.allow", "always")
quiet("partial clone")
-- with the same variables other commands run none either, where git without them would
local env = git.env()
t.equal(env.GIT_ALLOW_PROTOCOL, "none")
local with = {}
for name, value in pairs(env) do table.insert(with, name .. "=" .. value) end
local function harmless(...)
  local line = { unpack(with) }
  for _, word in ipairs { "git", ... } do table.insert(line, word) end
  t.run("env", unpack(line))
end
harmless("add", "--all")
harmless("commit", "-q", "-m", "two")
t.equal(fs.exists("ran"), false)
fs.write("a2", "something else\n")
t.run("sh", "-c", "git add --all; true")
t.equal(fs.exists("ran"), true)
fs.remove("ran")
harmless("checkout", "-q", "--detach")
t.fails("no branch is checked out", git.branch())
t.raises(function() git.root("x") end, "table expected")
t.raises(function() git.branch{ dir = "x" } end, 'unknown option "dir"')
t.raises(function() git.env{ dir = "x" } end, 'unknown option "dir"')
t.fails("nowhere", git.env{ cwd = "nowhere" })
t.raises(function() git.status{ cwd = 1 } end, "must be a string")
t.raises(function() git.diff{ base = "--output=x" } end, "is no revision")
