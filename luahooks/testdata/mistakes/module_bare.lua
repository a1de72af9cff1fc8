-- 2: module json not found beside the hook (tried json.lua, json/init.lua, lib/json.lua), did you mean "pi.json"?
local json = require "json"
pi.log(json.encode {})
