-- 4: pi.json has no field "parse", did you mean "decode"?
local json = require "pi.json"
pi.on("input", function(event)
  return { text = json.parse(event.text).text }
end)
