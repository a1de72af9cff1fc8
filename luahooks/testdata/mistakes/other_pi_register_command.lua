-- 2: pi has no field "registerCommand", did you mean "command"? (pi.compat.marvin, pi.compat.omp and pi.compat.pi_v2 have it as register_command)
pi.registerCommand("hello", { handler = function(args, ctx) ctx.ui.notify("hello", "info") end })
