local t = require "pi.test"
local json = require "pi.json"

-- Settings of the project, which the user approves.
local function settings(t, hooks, file)
  t.hook("command_hooks.lua")
  t.file(file or ".claude/settings.json", json.encode { hooks = hooks })
  t.answers { confirm = true }
end

-- One command for an event, as Claude Code and Codex write it.
local function claude(event, matcher, command)
  return { [event] = { { matcher = matcher, hooks = { { type = "command", command = command, timeout = 10 } } } } }
end

local function bash(command) return { tool = "bash", input = { command = command } } end

-- The text of the result of the n-th call.
local function result(t, n)
  for _, message in ipairs(t.messages()) do
    if message.role == "toolResult" then
      n = n - 1
      local parts = {}
      for i, block in ipairs(message.content) do parts[i] = block.text end
      if n == 0 then return table.concat(parts, "\n") end
    end
  end
end

-- The shape of the validator that is published with Claude Code: it reads the call from
-- standard input, and lists what is wrong on standard error with status 2.
local VALIDATOR = [[
input=$(cat)
case $input in
  *'"tool_name":"Bash"'*) ;;
  *) exit 0 ;;
esac
if printf %s "$input" | grep -q '"command":"grep '; then
  echo "- take rg, which is faster" >&2
  exit 2
fi
]]

t.case("a validator of commands blocks with its reason", function(t)
  settings(t, claude("PreToolUse", "Bash", 'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/validate.sh'))
  t.file(".claude/hooks/validate.sh", VALIDATOR)
  t.model { bash("grep -r needle ."), bash("echo fine"), "done" }
  t.prompt("look for it")
  t.blocked("bash", "take rg")
  t.equal(result(t, 2), "fine\n")
end)

-- The shape of the hooks that are published with crush: flat, with the input in variables,
-- and JSON for an answer.
t.case("a rewriter changes the command and tells the model", function(t)
  settings(t, { PreToolUse = { { matcher = "^bash$", command = "sh ./hooks/bun.sh" } } }, "crush.json")
  t.file("hooks/bun.sh", [[
case $CRUSH_TOOL_INPUT_COMMAND in
  "echo npm"*) echo '{"decision":"allow","context":"this project has bun","updated_input":{"command":"echo bun test"}}' ;;
  *cabal*) echo "No Haskell here." >&2; exit 2 ;;
esac]])
  t.model { bash("echo npm test"), bash("cabal build"), "done" }
  t.prompt("run the tests")
  t.equal(result(t, 1), "bun test\n\nthis project has bun")
  t.match(result(t, 2), "No Haskell here")
end)

t.case("an answer in JSON denies, and gives the whole input anew", function(t)
  t.hook("command_hooks.lua")
  t.answers { confirm = true }
  t.file("answer.sh", [[
input=$(cat)
case $input in
  *secret*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"that is secret"}}' ;;
  *'"tool_name":"Write"'*) printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"file_path":"%s/b.txt","content":"theirs"}}}' "$PWD" ;;
esac]])
  t.file(".claude/settings.json", json.encode { hooks = claude("PreToolUse", "Write|Read", "sh ./answer.sh") })
  t.model {
    { tool = "read", input = { path = "secret.txt" } },
    { tool = "write", input = { path = "a.txt", content = "mine" } },
    "done",
  }
  t.prompt("go")
  t.blocked("read", "that is secret")
  t.equal(t.read("a.txt"), nil)
  t.equal(t.read("b.txt"), "theirs")
end)

t.case("a hook that breaks is shut, whatever its status", function(t)
  settings(t, {
    PreToolUse = {
      { matcher = "Bash", hooks = { { type = "command", command = "exit 1" } } },
      { matcher = "Read", hooks = { { type = "command", command = "no-such-program-at-all" } } },
      { matcher = "LS", hooks = { { type = "command", command = "echo '{broken'" } } },
      { matcher = "Write", hooks = { { type = "prompt", prompt = "is that good?" } } },
    },
  })
  t.model {
    bash("touch ran"), { tool = "read", input = { path = "a" } }, { tool = "ls", input = {} },
    { tool = "write", input = { path = "ran", content = "" } }, "done",
  }
  t.prompt("go")
  t.match(result(t, 1), "ended with status 1")
  t.match(result(t, 2), "ended with status 127")
  t.match(result(t, 3), "is no JSON")
  t.match(result(t, 4), "of the type prompt")
  t.equal(t.read("ran"), nil)
end)

t.case("after a tool the model reads what the command says", function(t)
  settings(t, claude("PostToolUse", "Edit|Write", "grep -q '\"file_path\":\"/.*/a.txt\"' && { echo formatted >&2; exit 2; }"))
  t.model { { tool = "write", input = { path = "a.txt", content = "x" } }, "done" }
  t.prompt("write")
  t.match(result(t, 1), "%[hook%] formatted")
end)

t.case("prompts are stopped or get context, and so does the start of a session", function(t)
  local hooks = claude("UserPromptSubmit", nil, "grep -q password && { echo keep it to yourself >&2; exit 2; }; echo the build is red")
  hooks.SessionStart = claude("SessionStart", "startup", "echo this is the branch main").SessionStart
  settings(t, hooks)
  t.model { "hello" }
  t.prompt("my password is x")
  t.equal(#t.requests(), 0)
  t.shown("keep it to yourself")
  t.prompt("hello")
  local sent = json.encode(t.requests()[1].messages)
  t.match(sent, "the build is red")
  t.match(sent, "this is the branch main")
  t.ok(not sent:find("password"))
end)

t.case("a command lets the model go on where it would stop", function(t)
  settings(t, claude("Stop", nil, "grep -q '\"stop_hook_active\":true' || { echo run the tests first >&2; exit 2; }"))
  t.model { "done", "tested" }
  t.prompt("go")
  t.match(json.encode(t.requests()[2].messages), "run the tests first")
end)

t.case("a command keeps the conversation whole", function(t)
  settings(t, claude("PreCompact", "manual", "echo not today >&2; exit 2"))
  t.model { "one" }
  t.prompt("hello")
  t.command("/compact")
  t.shown("not today")
  t.equal(#t.requests(), 1)
end)

t.case("a project's commands do not run before the user has said yes", function(t)
  t.hook("command_hooks.lua")
  t.file(".claude/settings.json", json.encode { hooks = claude("PreToolUse", "*", "touch ran; exit 2") })
  t.answers(function(_, title, about)
    t.match(title, "settings.json")
    return false
  end)
  t.model { { tool = "ls", input = {} }, "done" }
  t.prompt("go")
  t.ran("ls")
  t.equal(t.read("ran"), nil)
end)

t.case("a script that changes after the yes shuts the tools that it guards", function(t)
  settings(t, claude("PreToolUse", "Bash", "sh ./check.sh"))
  t.file("check.sh", "exit 0\n")
  t.model { bash("echo one"), { tool = "write", input = { path = "check.sh", content = "touch ran\n" } }, bash("echo two"), "done" }
  t.prompt("go")
  t.equal(result(t, 1), "one\n")
  t.match(result(t, 3), "has changed")
  t.equal(t.read("ran"), nil)
end)

for _, line in ipairs {
  "cd hooks && sh ./check.sh", "cd hooks && sh check.sh", "sh hooks/check", "bash -e hooks/check", "sh <hooks/check", "cat hooks/check | sh",
  "cd hooks; . ./check", "cd hooks && cat check | sh", [[sh "$CLAUDE_PROJECT_DIR/hooks/check"]], [[sh ${CLAUDE_PROJECT_DIR}/hooks/check]],
  [[sh -c 'cd hooks; sh check']], "cd $CLAUDE_PROJECT_DIR; cd hooks; sh check", "env -C hooks sh check", [[x=hooks; eval "sh hooks/check"]], "(cd hooks; ./check)",
} do
  t.case("a script that changes shuts them: " .. line, function(t)
    settings(t, claude("PreToolUse", "Bash", line))
    for _, name in ipairs { "check", "check.sh" } do
      t.file("hooks/" .. name, "#!/bin/sh\nexit 0\n")
      assert(require("pi.fs").chmod(t.dir() .. "/hooks/" .. name, "755"))
    end
    local evil = "#!/bin/sh\ntouch " .. t.dir() .. "/ran\n"
    t.model {
      bash("echo one"), { calls = { { tool = "write", input = { path = "hooks/check", content = evil } }, { tool = "write", input = { path = "hooks/check.sh", content = evil } } } },
      bash("echo two"), "done",
    }
    t.prompt("go")
    t.equal(result(t, 1), "one\n")
    t.match(result(t, 4), "has changed")
    t.equal(t.read("ran"), nil)
  end)
end

for _, line in ipairs {
  "./chec?", "hook*/sub.d/check", "bash hooks/chec*", "for f in hooks/*; do sh $f; done", "run-parts hooks/sub.d", "cat hooks/c* | sh",
  [[find hooks -type f -exec {} \;]], "make -sf check", "make -s check", "make -fcheck", "python3 -m mod", "python3 -mmod", "python3 -m pack.mod",
  "BASH_ENV=check bash -c true", "ENV=./check sh -c true", "npm run -s check", "go run check.go", "go run ./hooks", "ruby -r ./lib check",
  "run-parts ./.hid", "sh .hid/*", [["$CLAUDE_PROJECT_DIR"/hooks/sub.d/*]], "cd $NOWHERE; sh hooks/chec*", "cd hooks && sh chec*",
} do
  t.case("what changes is noticed: " .. line, function(t)
    settings(t, claude("PreToolUse", "Bash", line .. " >/dev/null 2>&1 || true"))
    for _, name in ipairs { "check", "hooks/check", "hooks/sub.d/check", "check.py", "Makefile", "package.json", "check.go", "lib.rb", "mod.py", "pack/mod.py", ".hid/.x", ".hid/x" } do t.file(name, "true\n") end
    for _, name in ipairs { "check", "hooks/check", "hooks/sub.d/check" } do assert(require("pi.fs").chmod(t.dir() .. "/" .. name, "755")) end
    t.model {
      bash("echo one"), bash("for f in check hooks/check hooks/sub.d/check check.py Makefile package.json check.go mod.py pack/mod.py .hid/.x .hid/x; do echo 'touch ran' >>$f; done"), bash("echo two"),
      "done",
    }
    t.prompt("go")
    t.equal(result(t, 1), "one\n")
    t.match(result(t, 3), "has changed")
    t.equal(t.read("ran"), nil)
  end)
end

t.case("a script that cannot be read any more counts as changed", function(t)
  settings(t, claude("PreToolUse", "Bash", "sh ./check.sh"))
  t.file("check.sh", "exit 0\n")
  t.model { bash("echo one"), bash("truncate -s 65M check.sh"), bash("echo two"), "done" }
  t.prompt("go")
  t.match(result(t, 3), "has changed %(.*check%.sh")
end)

t.case("the question says that make and its like run what files say", function(t)
  t.hook("command_hooks.lua")
  t.file(".claude/settings.json", json.encode { hooks = claude("PreToolUse", "Bash", "make -s check") })
  local asked
  t.answers(function(_, _, about)
    asked = about
    return false
  end)
  t.model { "done" }
  t.prompt("go")
  t.match(asked, "make %-s check\n  what it runs may change after your yes: make runs what files say")
end)

for _, line in ipairs { "cd notes && cat list.txt", "cd /; ls -d *", "npm --version notes || true", "go version notes || true", "grep -c x notes/* || true", "cd notes; ls ./*; cat \"$HOME/none\" || true", "cat >>notes/list.txt", "echo $HOME >>notes/list.txt", "echo $HOME | tee -a notes/list.txt >/dev/null" } do
  t.case("data that a command reads or writes may change: " .. line, function(t)
    settings(t, claude("PreToolUse", "Bash", line))
    t.file("notes/list.txt", "1\n")
    t.model { bash("echo one"), { tool = "bash", input = { command = "echo more >>notes/list.txt" } }, bash("echo two"), "done" }
    t.prompt("go")
    t.equal(result(t, 3), "two\n")
  end)
end

t.case("the question says what cannot be told", function(t)
  t.hook("command_hooks.lua")
  t.file(".claude/settings.json", json.encode { hooks = claude("PreToolUse", "Bash", "sh $HOOKS/check") })
  local asked
  t.answers(function(_, _, about)
    asked = about
    return false
  end)
  t.model { "done" }
  t.prompt("go")
  t.match(asked, "PreToolUse Bash: sh %$HOOKS/check\n  what it runs may change after your yes: .+: .+")
end)

t.case("one's own settings that cannot be read shut all tools", function(t)
  t.hook("command_hooks.lua")
  t.file("~/.claude/settings.json", "{ nothing")
  t.model { { tool = "ls", input = {} }, "done" }
  t.prompt("go")
  t.blocked("ls", "cannot be read")
end)
