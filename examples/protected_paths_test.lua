-- Tests of protected_paths.lua: pi test examples/protected_paths_test.lua

local t = require "pi.test"

local function tool(t, name, input)
  t.model { { tool = name, input = input }, "done" }
  t.prompt("go")
  return t.calls(name)[#t.calls(name)]
end

t.case("secrets are neither read nor written without a person", function(t)
  t.hook("protected_paths.lua")
  t.file(".env", "TOKEN=1")
  for _, path in ipairs { ".env", "./.env", "@.env", "sub/../.env", ".ENV", "keys/server.pem", "~/.ssh/config", ".git/config" } do
    t.equal(tool(t, "read", { path = path }).ran, false, path)
  end
  t.blocked("read", "a person would have to allow it")
  t.equal(tool(t, "write", { path = ".env", content = "x" }).ran, false)
  t.equal(t.read(".env"), "TOKEN=1")
end)

t.case("a shell command is taken apart", function(t)
  t.hook("protected_paths.lua")
  for _, line in ipairs { "cat .env", "cat '.env'", "x > .env", "sh -c 'cat .env'", "echo $(cat .env)", "tar -C.git", "cd sub", "cat $F" } do
    t.equal(tool(t, "bash", { command = line }).ran, false, line)
  end
  t.ok(tool(t, "bash", { command = "echo environment" }).ran)
end)

t.case("a link into them counts", function(t)
  t.hook("protected_paths.lua")
  t.file(".env", "TOKEN=1")
  t.shell("ln -s .env plain.txt")
  t.equal(tool(t, "read", { path = "plain.txt" }).ran, false)
  t.blocked("read", "is really in .env")
end)

t.case("the person can allow it", function(t)
  t.hook("protected_paths.lua")
  t.file(".env", "TOKEN=1")
  t.answers { confirm = { false, true } }
  t.equal(tool(t, "read", { path = ".env" }).text, "the user did not allow this: .env is protected")
  t.match(tool(t, "read", { path = ".env" }).text, "TOKEN=1")
end)

t.case("what only looks like it is open", function(t)
  t.hook("protected_paths.lua")
  for _, path in ipairs { ".env.example", "environment.md", ".github/x.yml" } do
    t.file(path, "open")
    t.ok(tool(t, "read", { path = path }).ran, path)
  end
end)
