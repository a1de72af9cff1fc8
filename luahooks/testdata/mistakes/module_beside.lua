-- 2: module lib.rules not found beside the hook (tried lib/rules.lua, lib/rules/init.lua, lib/lib/rules.lua)
local rules = require "lib.rules"
pi.on("input", rules.input)
