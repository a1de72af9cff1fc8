local t = require "pi.test"

local PRESETS = [[{
  "look": { "tools": ["read", "ls", "teleport"], "instructions": "Explain; change nothing." },
  "think": { "thinking": "high" }
}]]

local function tools(request) return #request.tools end

t.case("a preset is tools and instructions, until it is left", function(t)
  t.hook("preset.lua")
  t.file("~/.pi/agent/presets.json", PRESETS)
  t.model { "one", "two", "three" }
  t.prompt("first")
  t.match(t.command("/preset look"), "preset look")
  t.prompt("second")
  t.match(t.command("/preset off"), "no preset")
  t.prompt("third")
  local seen = t.requests()
  t.equal(tools(seen[2]), 2)
  t.match(seen[2].system, "Explain; change nothing%.")
  t.equal(tools(seen[3]), tools(seen[1]))
  t.equal(seen[3].system, seen[1].system)
end)

t.case("a resumed session has its preset again", function(t)
  t.hook("preset.lua")
  t.file("~/.pi/agent/presets.json", PRESETS)
  t.model { "one", "two" }
  t.command("/preset look")
  t.prompt("first")
  t.reopen()
  t.prompt("second")
  t.match(t.requests()[2].system, "Explain; change nothing%.")
  t.equal(tools(t.requests()[2]), 2)
end)

t.case("the user picks one from a list", function(t)
  t.hook("preset.lua")
  t.file("~/.pi/agent/presets.json", PRESETS)
  t.answers { select = "look" }
  t.match(t.command("/preset"), "preset look")
end)

t.case("--preset begins with one", function(t)
  t.hook("preset.lua")
  t.file("~/.pi/agent/presets.json", PRESETS)
  t.flags { preset = "look" }
  t.model { "one" }
  t.prompt("first")
  t.match(t.requests()[1].system, "Explain; change nothing%.")
end)

t.case("a name that is none is said, and changes nothing", function(t)
  t.hook("preset.lua")
  t.file("~/.pi/agent/presets.json", PRESETS)
  t.model { "one" }
  t.match(t.command("/preset lok"), 'no preset "lok"; there are: look think')
  t.prompt("first")
  t.ok(not t.requests()[1].system:find("Explain"))
end)

t.case("a key goes through them, and a preset has its thinking level", function(t)
  t.hook("preset.lua")
  t.file("~/.pi/agent/presets.json", PRESETS)
  t.model { "one", "two" }
  t.key("alt+p")
  t.equal(t.status().preset, "preset look")
  t.key("alt+p")
  t.equal(t.status().preset, "preset think")
  t.prompt("first")
  t.key("alt+p")
  t.equal(t.status().preset, nil)
  t.prompt("second")
  t.equal(t.requests()[1].thinking, "high")
  t.ok(t.requests()[2].thinking ~= "high")
end)

for source, want in pairs {
  ['{"look": {"model": "nope/none"}}'] = 'presets.json: preset "look": no such model',
  ['{"look": {"thinking": "hihg"}}'] = 'presets.json: preset "look": ',
  ['{"look": {"instructoins": "Explain."}}'] = 'presets.json: preset "look": there is no key "instructoins", but model,',
  ['{"look": {"tools": "read"}}'] = 'presets.json: preset "look": tools is no list',
  ['{"look": '] = "presets.json: ",
} do
  t.case("a mistake in the file is said: " .. source, function(t)
    t.hook("preset.lua")
    t.file("~/.pi/agent/presets.json", source)
    local said = t.command("/preset look")
    t.ok(said:find(want, 1, true), said)
    t.ok(not said:find("preset.lua", 1, true), said)
    t.equal(t.status().preset, nil)
  end)
end
