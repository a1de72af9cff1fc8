-- 5: unknown key "resaon" in the result of tool_call, did you mean "reason"?
-- check 7: unknown key "resaon" in the result of tool_call, did you mean "reason"?
pi.on("tool_call", function(event)
  if event.tool_name == "bash" then
    return {
      block = true,
      resaon = "no shell today",
    }
  end
end)
