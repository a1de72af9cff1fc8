-- 2: on: unknown event "session.compacting", did you mean "session_compacting"? (pi.compat.omp has it)
pi.on("session.compacting", function(event) return { context = { "keep the names of files" } } end)
