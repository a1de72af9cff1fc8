-- 2: pi has no field "registerTool", did you mean "tool"? (pi.compat.marvin, pi.compat.omp and pi.compat.pi_v2 have it as register_tool)
pi.registerTool({ name = "hello", description = "greets", execute = function() return "hello" end })
