-- 2: module pi.jsn does not exist, did you mean "pi.json"?
local json = require "pi.jsn"
pi.log(json.encode {})
