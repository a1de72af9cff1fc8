-- 4: exec: unknown option "time_out", did you mean "timeout"?
pi.command("status", {
  handler = function()
    local result = pi.exec("git", { "status" }, { time_out = 5000 })
    return { status = result.stdout }
  end,
})
