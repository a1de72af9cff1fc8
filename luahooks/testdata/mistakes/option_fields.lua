-- 4: tool: parameters: "path" is no keyword of JSON Schema, did you mean schema.object { path = … }?
-- check 7: tool: parameters: "path" is no keyword of JSON Schema, did you mean schema.object { path = … }?
local schema = require "pi.schema"
pi.tool {
  name = "count",
  description = "counts",
  parameters = { path = schema.string("which file") },
  execute = function(params) return params.path end,
}
