-- What a hook sees of calls of servers, and may change.
pi.on("tool_call", function(event)
  if not event.mcp then return end
  pi.emit("servers:call", { name = event.tool_name, mcp = { event.mcp.server, event.mcp.tool, event.mcp.via },
    definition = #event.mcp.definition, read_only = event.annotations.read_only, claimed = event.annotations.claimed })
  if event.mcp.tool == "drop" then return { block = true, reason = "nothing is dropped" } end
  if event.input.text == "rewrite me" then return { input = { text = "rewritten" } } end
end)

pi.on("tool_result", function(event)
  if event.tool_name == "mcp__db__secret" then return { content = "covered" } end
end)
