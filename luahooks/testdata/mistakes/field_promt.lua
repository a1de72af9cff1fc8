-- 3: the event before_agent_start has no field "promt", did you mean "prompt"?
pi.on("before_agent_start", function(event)
  local long = #event.promt > 1000
  if long then return { sections = { role = "Be brief." } } end
end)
