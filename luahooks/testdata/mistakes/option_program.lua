-- 5: start git status: exec: "git status": executable file not found in $PATH; arguments are a list: pi.exec("git", { "status" })
-- check nothing
pi.command("state", {
  handler = function()
    return { status = assert(pi.exec("git status")).stdout }
  end,
})
