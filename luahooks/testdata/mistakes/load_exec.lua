-- 2: exec: not available while the hook loads; use session_start
local branch = pi.exec("git", { "branch", "--show-current" }).stdout
pi.command("branch", { handler = function() return { status = branch } end })
