-- 3: ctx.ui has no field "setStatus", did you mean "set_status"? (pi.compat.omp has it)
pi.on("session_start", function(event, ctx)
  ctx.ui.setStatus("hello", "ready")
end)
