-- check 4: the input of write has no field "file_path", did you mean "path"?
local TOOL = "write"
pi.on("tool_call", function(event)
  if event.tool_name == TOOL and event.input.file_path == "secret" then
    return { block = true, reason = "no" }
  end
end)
