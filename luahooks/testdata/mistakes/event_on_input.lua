-- 2: on: unknown event "on_input", did you mean "input"?
pi.on("on_input", function(event) return { text = event.text } end)
