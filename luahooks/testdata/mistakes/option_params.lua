-- 3: tool: unknown option "params", did you mean "parameters"?
-- check 6: tool: unknown option "params", did you mean "parameters"?
pi.tool {
  name = "add",
  description = "adds",
  params = { type = "object" },
  execute = function(params) return "1" end,
}
