-- A hook whose command /spec NAME runs the spec of a module, as modules_test.lua wants it.
-- What a spec is given is told in spec_test.go; there it is also seen that each function works,
-- fails and raises.

local json = require "pi.json"
local timer = require "pi.timer"

-- Named as texts, so that the files are among those that a hook may require.
local SPECS = {
  base64 = function() require "base64_spec" end,
  diff = function() require "diff_spec" end,
  fs = function() require "fs_spec" end,
  git = function() require "git_spec" end,
  hash = function() require "hash_spec" end,
  html = function() require "html_spec" end,
  http = function() require "http_spec" end,
  json = function() require "json_spec" end,
  path = function() require "path_spec" end,
  re = function() require "re_spec" end,
  schema = function() require "schema_spec" end,
  sh = function() require "sh_spec" end,
  text = function() require "text_spec" end,
  time = function() require "time_spec" end,
  timer = function() require "timer_spec" end,
  toml = function() require "toml_spec" end,
}

local function text(v)
  if type(v) == "table" then return json.encode(v) end
  return type(v) .. " " .. tostring(v)
end

local given = {}

function given.equal(got, want)
  if text(got) ~= text(want) then error("got " .. text(got) .. ", want " .. text(want), 2) end
end

function given.fails(want, got, err)
  if got ~= nil or type(err) ~= "string" or not err:find(want, 1, true) then
    error("got " .. tostring(got) .. ", " .. tostring(err) .. "; want nil, " .. want, 2)
  end
end

function given.raises(fn, want)
  local ok, err = pcall(fn)
  err = tostring(err):gsub("%S*/(%w+_spec%.lua:)", "%1") -- the files are copies elsewhere
  if ok or not err:find(want, 1, true) then error("got " .. err .. "; want " .. want, 2) end
end

function given.soon(fn)
  while not fn() do timer.sleep(1) end
end

function given.run(program, ...)
  local result = assert(pi.exec(program, { ... }))
  if result.code ~= 0 then return nil, result.stderr end
  return true
end

pi.command("spec", { description = "Run the spec of a module", handler = function(ctx)
  local name = ctx.args[1]
  given.dir = ctx.cwd
  rawset(_G, "t", given)
  rawset(_G, name, require("pi." .. name))
  SPECS[name]()
  return { status = name .. " is as its spec says" }
end })

pi.command("specs", { description = "List them", handler = function()
  local names = {}
  for name in pairs(SPECS) do names[#names + 1] = name end
  table.sort(names)
  return { status = table.concat(names, " ") }
end })
