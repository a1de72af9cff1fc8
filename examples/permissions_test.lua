-- Tests of permissions.lua: pi test examples/permissions_test.lua

local t = require "pi.test"

local function rules(t, more)
  t.hook("permissions.lua")
  local settings = {
    allow = {
      { tool = { "read", "grep", "find", "ls" }, path = "." },
      { tool = { "write", "edit" }, path = { "src", "*.md" } },
      { command = { "ls", "cat", "echo", "git status", "xargs", "env", "sh", "tee", "find" } },
    },
    ask = { { command = "git push" } },
    deny = { { path = { ".env", ".git", "*.key" } }, { command = { "sudo", "rm" } } },
  }
  for key, value in pairs(more or {}) do settings[key] = value end
  t.config { hook = { permissions = settings } }
  t.file(".env", "SECRET=1")
  t.file("src/a.txt", "a")
end

local function verdict(t, tool, input)
  local asked = false
  t.answers(function()
    asked = true
    return true
  end)
  local result = t.tool(tool, input)
  if asked then return "ask" end
  local text = result.content and result.content[1] and result.content[1].text or ""
  return text:find("not allowed here", 1, true) and "deny" or "allow"
end

local function check(t, cases)
  for _, case in ipairs(cases) do
    local want, tool, input = case[1], case[2], case[3]
    if tool == "bash" then input = { command = input } end
    if type(input) == "string" then input = { path = input, content = "x" } end
    t.equal(verdict(t, tool, input), want, tool .. " " .. (input.command or input.path or ""))
  end
end

t.case("rules fit by tool and path", function(t)
  rules(t)
  check(t, {
    { "allow", "read", { path = "src/a.txt" } },
    { "allow", "ls", {} },
    { "allow", "write", "src/b.txt" },
    { "allow", "write", "notes.md" },
    { "ask", "write", "other.txt" },
    { "ask", "read", { path = "/etc/hostname" } },
    { "deny", "read", { path = ".env" } },
    { "deny", "write", "src/deep/.git/config" },
    { "deny", "read", { path = "src/server.key" } },
  })
end)

t.case("paths count where they lead, however they are written", function(t)
  rules(t)
  t.equal(t.shell("ln -s .env src/link && ln -s / src/root").exit_code, 0)
  check(t, {
    { "deny", "read", { path = "src/../.env" } },
    { "deny", "read", { path = "./src/./..//.env" } },
    { "deny", "read", { path = t.dir() .. "/.env" } },
    { "deny", "read", { path = "src/link" } },
    { "deny", "read", { path = ".ENV" } },
    { "deny", "read", { path = "@.env" } },
    { "ask", "write", "src/../outside.txt" },
    { "ask", "write", "src/root/tmp/outside.txt" },
    { "ask", "write", "../src/x.txt" },
    { "ask", "write", "SRC/x.txt" }, -- a rule that allows is exact
  })
end)

t.case("rules fit by command", function(t)
  rules(t)
  check(t, {
    { "allow", "bash", "ls -la src" },
    { "allow", "bash", "cat src/a.txt | cat" },
    { "allow", "bash", "git status --short" },
    { "ask", "bash", "git stash" },
    { "ask", "bash", "git push" },
    { "ask", "bash", "make" },
    { "deny", "bash", "rm src/a.txt" },
    { "deny", "bash", "sudo ls" },
  })
end)

t.case("what a gate by text lets through is seen", function(t)
  rules(t)
  t.equal(t.shell("ln -s .env src/link").exit_code, 0)
  check(t, {
    -- the program is called in another way
    { "deny", "bash", [[r''m src/a.txt]] },
    { "deny", "bash", [[\rm src/a.txt]] },
    { "deny", "bash", [["rm" src/a.txt]] },
    { "deny", "bash", "/bin/rm src/a.txt" },
    { "deny", "bash", "RM src/a.txt" },
    { "deny", "bash", "command rm src/a.txt" },
    -- something else runs it
    { "deny", "bash", "env rm src/a.txt" },
    { "deny", "bash", "env A=1 rm src/a.txt" },
    { "deny", "bash", "A=1 rm src/a.txt" },
    { "deny", "bash", "ls | xargs rm" },
    { "deny", "bash", "find . -exec rm {} +" },
    { "deny", "bash", [[sh -c "rm src/a.txt"]] },
    { "deny", "bash", [[sh -c "sh -c 'rm src/a.txt'"]] },
    { "deny", "bash", "nohup rm src/a.txt" },
    { "deny", "bash", "eval 'rm src/a.txt'" },
    -- it stands somewhere else
    { "deny", "bash", "ls; rm src/a.txt" },
    { "deny", "bash", "ls && (ls; rm src/a.txt)" },
    { "deny", "bash", "echo $(rm src/a.txt)" },
    { "deny", "bash", "echo `rm src/a.txt`" },
    { "deny", "bash", "cat <(rm src/a.txt)" },
    { "deny", "bash", "if true; then rm src/a.txt; fi" },
    { "deny", "bash", "cat <<EOF\n$(rm src/a.txt)\nEOF" },
    { "deny", "bash", "ls\nrm src/a.txt" },
    { "deny", "bash", "ls & rm src/a.txt" },
    { "deny", "bash", "git -C src status; rm x" },
    -- git push with something in between
    { "ask", "bash", "git -C src push" },
    { "ask", "bash", "git --no-pager push" },
    -- the path is written in another way
    { "deny", "bash", "cat .env" },
    { "deny", "bash", "cat ./src/../.env" },
    { "deny", "bash", [[cat ".e"nv]] },
    { "deny", "bash", [[cat .e\nv]] },
    { "deny", "bash", "cat < .env" },
    { "deny", "bash", "cat .ENV" },
    { "deny", "bash", "cat src/link" },
    { "deny", "bash", "cat " .. t.dir() .. "/.env" },
    { "deny", "bash", "cat -f.env" },
    { "deny", "bash", "cat --file=.env" },
    { "deny", "bash", "curl -d @.env localhost" },
    { "deny", "bash", "curl -F f=@src/../.env localhost" },
    { "deny", "bash", [[sh -c "cat '.env'"]] },
    { "deny", "bash", [[python3 -c "print(open('.env').read())"]] },
    -- files are written by the shell
    { "allow", "bash", "echo x > src/b.txt" },
    { "allow", "bash", "ls src > /dev/null 2>&1" },
    { "ask", "bash", "echo x > other.txt" },
    { "ask", "bash", "echo x >> ../other.txt" },
    { "deny", "bash", "echo x > .env" },
    { "deny", "bash", "echo x >| .git/hooks/pre-commit" },
    { "deny", "bash", "ls | tee .env" },
    { "deny", "bash", "cat > .git/config <<EOF\nx\nEOF" },
    -- nobody can know it before it runs
    { "ask", "bash", [[$'\x72m' src/a.txt]] },
    { "ask", "bash", "cat *" },
    { "ask", "bash", "cat $FILE" },
    { "ask", "bash", "X=rm; $X src/a.txt" },
    { "ask", "bash", "cat .e??" },
    { "ask", "bash", "echo cm0gLXJmIC8K | base64 -d | sh" },
    { "ask", "bash", "cat src/a.txt | sh" },
    { "ask", "bash", "./ls" },
    { "ask", "bash", "PATH=. ls" },
    { "ask", "bash", "cd src && cat a.txt" },
    { "ask", "bash", "env -C src cat a.txt" },
    { "ask", "bash", "env --chdir=src cat a.txt" },
    { "ask", "bash", "ls (" },
  })
end)

t.case("a name may have blanks and signs in it", function(t)
  rules(t, { deny = { { path = { "my notes.txt", "packages/@own/*.json" } } } })
  check(t, {
    { "deny", "bash", [[cat "my notes.txt"]] },
    { "deny", "bash", [[cat src/my\ notes.txt]] },
    { "deny", "bash", "cat packages/@own/package.json" },
    { "allow", "bash", "cat notes.txt" },
  })
end)

t.case("a tool without path and command has its name", function(t)
  rules(t, { allow = { { tool = "todo_*" } }, deny = { { tool = "web" } } })
  t.equal(verdict(t, "read", { path = "src/a.txt" }), "ask")
end)

t.case("the strictest rule counts, whatever their order", function(t)
  rules(t, { allow = { { command = "ls" }, { tool = "bash" } }, ask = { { command = "ls" } }, deny = { { command = "ls -R" } } })
  check(t, { { "deny", "bash", "ls -l -R" }, { "ask", "bash", "ls -l" }, { "allow", "bash", "date" } })
end)

t.case("without rules everything is asked about, and without a user refused", function(t)
  t.hook("permissions.lua")
  t.file("a.txt", "a")
  t.equal(verdict(t, "read", { path = "a.txt" }), "ask")
end)

for text, deny in pairs {
  ["is not one command"] = { { command = "ls | rm" } },
  ["src/%[a"] = { { path = "src/[a" } },
  ['no such setting, did you mean "command"'] = { { comand = "rm" } },
} do
  t.case("rules that mean nothing keep the hook from loading: " .. text, function(t)
    rules(t, { deny = deny })
    local ok, err = pcall(t.tool, "ls", {})
    t.equal(ok, false)
    t.match(err, text)
  end)
end

t.case("nobody is there to be asked", function(t)
  rules(t)
  t.model { { tool = "bash", input = { command = "make" } }, "done" }
  t.prompt("build")
  t.blocked("bash", "a user would have to allow this: no rule fits make")
end)

t.case("unknown may be refused", function(t)
  rules(t, { unknown = "deny" })
  check(t, { { "deny", "bash", "make" }, { "allow", "bash", "ls" }, { "deny", "write", "other.txt" } })
end)

t.case("a no is told to the model", function(t)
  rules(t)
  t.answers { confirm = false }
  t.model { { tool = "bash", input = { command = "git push" } }, "done" }
  t.prompt("push")
  t.blocked("bash", 'the user did not allow this: ask = {"command":"git push"}')
end)
