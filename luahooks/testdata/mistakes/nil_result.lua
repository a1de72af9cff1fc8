-- 6: attempt to index "result", which is nil, with key "stdout"
-- check nothing
pi.command("head", {
  handler = function()
    local result = pi.exec("no-such-program-at-all", {})
    return { status = result.stdout }
  end,
})
