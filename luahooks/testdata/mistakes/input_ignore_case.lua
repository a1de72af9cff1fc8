-- check 4: the input of grep has no field "ignoreCase", did you mean "ignore_case"?
pi.on("tool_result", function(event)
  if not (event.tool_name == "grep") then return end
  local any_case = event.input.ignoreCase
  if any_case then return { details = { any_case = true } } end
end)
