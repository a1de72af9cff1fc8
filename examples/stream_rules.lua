-- Stream rules: rules that cost nothing until the model is about to break one.
--
-- Each rule has a regular expression. When what the model is saying or writing
-- into a tool call fits it, the answer is stopped in the middle, the model is
-- told the rule and asked again. A rule is told once per prompt; the model may
-- have a reason to insist.
--
-- Other hooks hear of it: omp:ttsr_triggered {rules = {{name, pattern, content}, …}}.
--
-- Install: pi hooks add example:stream_rules, and write your own RULES into it; or try it
-- with pi --hook stream_rules.lua.

local re = require "pi.re"

local RULES = {
  {
    name = "no-force-push",
    pattern = [[git push\s[^\n]*(--force\b|-f\b)]],
    say = "Never push with --force here; others work on these branches. Push to a new branch and say so.",
  },
  {
    name = "no-placeholder",
    pattern = [[(?i)// ?(rest of|remaining|existing) (the )?code]],
    say = "Do not leave code out with a comment that stands for it. Write the whole text, or edit just the place.",
  },
}

local LOOK_BACK = 2000 -- bytes that a pattern can span

local told = {}  -- rules of this prompt, by name
local heard = {} -- the end of each block of the answer that streams, by index

pi.on("agent_start", function() told = {} end)
pi.on("message_start", function() heard = {} end)

pi.on("message_update", function(event)
  local delta = event.delta
  if delta.type == "thinking" then return end
  local text = ((heard[delta.index] or "") .. delta.text):sub(-LOOK_BACK)
  heard[delta.index] = text
  for _, rule in ipairs(RULES) do
    if not told[rule.name] and re.test(text, rule.pattern) then
      told[rule.name] = true
      pi.emit("omp:ttsr_triggered", { rules = { { name = rule.name, pattern = rule.pattern, content = rule.say } } })
      return { abort = { reason = "rule " .. rule.name, inject = rule.say } }
    end
  end
end)
