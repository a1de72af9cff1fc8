-- 2: on: unknown event "ttsr_triggered", did you mean "omp:ttsr_triggered"? (pi.compat.omp has it)
pi.on("ttsr_triggered", function(event) print(event.rule) end)
