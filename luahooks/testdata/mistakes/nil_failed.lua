-- 5: attempt to index "pi.exec(…)", which is nil, with key "stdout"; pi.exec returned nil and a message: local r, err = pi.exec(…), or assert(pi.exec(…))
-- check nothing
pi.command("state", {
  handler = function()
    return { status = pi.exec("git status").stdout }
  end,
})
