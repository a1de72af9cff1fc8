local t = require "pi.test"

t.case("rules without paths stand in the system prompt", function(t)
  t.hook("claude_rules.lua")
  t.file(".claude/rules/b.md", "Second.\n")
  t.file(".claude/rules/a.md", "First.\n")
  t.model { "one", "two" }
  t.prompt("hello")
  t.prompt("again")
  local seen = t.requests()
  t.match(seen[1].system, "Rules of this project:\n\nFirst%.\n\nSecond%.")
  t.equal(seen[2].system, seen[1].system) -- byte for byte, for the provider's cache
end)

t.case("a rule with paths comes with the first file that it is for", function(t)
  t.hook("claude_rules.lua")
  t.file(".claude/rules/ts.md", "---\npaths:\n  - src/**/*.{ts,tsx}\n---\nUse the logger.\n")
  t.file("src/deep/a.tsx", "a\n")
  t.file("b.md", "b\n")
  t.model {
    { tool = "read", input = { path = "b.md" } },
    { tool = "read", input = { path = "src/deep/a.tsx" } },
    { tool = "read", input = { path = "./src/deep/a.tsx" } },
    "done",
  }
  t.prompt("look around")
  t.ok(not t.requests()[1].system:find("logger"))
  local results = {}
  for _, message in ipairs(t.messages()) do
    if message.role == "toolResult" then results[#results + 1] = #message.content end
  end
  t.equal(results, { 1, 2, 1 })
  t.match(t.messages()[5].content[2].text, "Use the logger")
end)

t.case("paths may be one text with commas", function(t)
  t.hook("claude_rules.lua")
  t.file(".claude/rules/ts.md", "---\npaths: \"docs/*.md, {src,lib}/*.ts\"\n---\nUse the logger.\n")
  t.model { { tool = "write", input = { path = "lib/x.ts", content = "x" } }, "done" }
  t.prompt("write it")
  t.match(t.messages()[3].content[2].text, "Use the logger")
end)
