-- 3: unknown key "output" in the result of tool_result, did you mean "content"?
local function short(event)
  return { output = "short" }
end
pi.on("tool_result", short)
