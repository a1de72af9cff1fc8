-- 3: attempt to call "setTimeout", which is no function; later: require "pi.timer".after(ms, fn)
pi.on("session_start", function()
  setTimeout(function() print("late") end, 1000)
end)
