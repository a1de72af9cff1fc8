-- 4: bad argument #2 to 'exec' (list of strings expected, got string)
pi.command("log", {
  handler = function()
    return { status = pi.exec("git", "log -1").stdout }
  end,
})
