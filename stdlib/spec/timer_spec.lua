local n, order = 0, {}
t.equal(timer.sleep(1), true)
timer.after(1, function() n = n + 1 end)
t.soon(function() return n == 1 end)
local cancel = timer.after(3600000, function() n = 100 end)
t.equal({ cancel(), cancel(), n }, { true, false, 1 })
local stop
stop = timer.every(1, function()
  n = n + 1
  if n == 4 then stop() end
end)
t.soon(function() return n == 4 end)
t.equal(stop(), false)
local running, most = 0, 0
stop = timer.every(1, function()
  running = running + 1
  most = math.max(most, running)
  timer.sleep(5)
  running = running - 1
  n = n + 1
end)
t.soon(function() return n == 7 end)
t.equal({ most, stop() }, { 1, true })
t.raises(function() timer.sleep(-1) end, "no number of milliseconds")
t.raises(function() timer.after(366 * 24 * 3600 * 1000, print) end, "31622400000 is no number of milliseconds from 0 to 31536000000, a year")
t.raises(function() timer.after("1", print) end, "number expected")
t.raises(function() timer.after(1) end, "function expected")
t.raises(function() timer.every(0, print) end, "no number of milliseconds")
