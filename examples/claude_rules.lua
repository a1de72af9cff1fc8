-- Claude rules: the model follows the rules that a project keeps in .claude/rules.
--
-- Each file *.md there, and in ~/.claude/rules, is a rule. One that begins with a list of
-- paths counts for these files only:
--
--   ---
--   paths:
--     - src/**/*.ts
--   ---
--   Use the logger, never console.log.
--
-- Rules without paths stand in the system prompt. A rule with paths costs nothing until
-- a tool reads or changes a file that it is for: then it comes with the result, once.
-- Rules are read when a session begins; they are text for the model, nothing is run.
--
-- Install: pi hooks add example:claude_rules, or try it with pi --hook claude_rules.lua.

local fs = require "pi.fs"
local path = require "pi.path"
local text = require "pi.text"

local MOST = 64 * 1024 -- bytes of one rule

local always, for_files, told = nil, {}, {}

-- The patterns of a front matter: a list, or one text with commas outside of braces.
local function patterns_of(front)
  local paths = front and front.paths
  if type(paths) ~= "string" then return paths end
  local list, depth, from = {}, 0, 1
  for at, char in (paths .. ","):gmatch("()([{},])") do
    if char == "{" then
      depth = depth + 1
    elseif char == "}" then
      depth = depth - 1
    elseif depth == 0 then
      list[#list + 1] = paths:sub(from, at - 1):match("^%s*(.-)%s*$")
      from = at + 1
    end
  end
  return list
end

local function load_rules(ctx)
  local parts = {}
  always, for_files, told = nil, {}, {}
  for _, dir in ipairs { path.expand("~/.claude/rules"), path.join(ctx.cwd, ".claude/rules") } do
    for _, file in ipairs(fs.glob("**/*.md", { dir = dir, files = true }) or {}) do
      local source, err = fs.read(path.abs(file, dir), { max_bytes = MOST })
      if not source then
        ctx.ui.notify("a rule is left out: " .. err, "warning")
      else
        local front, body = text.front_matter(source)
        local patterns = patterns_of(front)
        if patterns then
          for_files[#for_files + 1] = { name = file, patterns = patterns, body = body }
        else
          parts[#parts + 1] = body:match("^%s*(.-)%s*$")
        end
      end
    end
  end
  if #parts > 0 then always = "Rules of this project:\n\n" .. table.concat(parts, "\n\n") end
end

pi.on("session_start", function(_, ctx) load_rules(ctx) end)
pi.on("session_compact", function() told = {} end) -- the model has forgotten them

-- The same bytes with each prompt, so that the provider's cache stays of use.
pi.on("before_agent_start", function()
  if always then return { sections = { rules = always } } end
end)

local function fits(rule, file)
  for _, pattern in ipairs(rule.patterns) do
    if path.match(file, pattern) then return true end
  end
end

local FILE_TOOLS = { read = true, write = true, edit = true }

pi.on("tool_call", function(event, ctx)
  if not FILE_TOOLS[event.tool_name] then return end
  local file = path.rel(path.abs(event.input.path, ctx.cwd), ctx.cwd)
  local new = {}
  for _, rule in ipairs(for_files) do
    if not told[rule] and file and fits(rule, file) then
      told[rule] = true
      new[#new + 1] = ("Rule for %s (%s):\n%s"):format(table.concat(rule.patterns, ", "), rule.name, rule.body)
    end
  end
  if #new > 0 then return { additional_context = table.concat(new, "\n\n") } end
end)
