---@meta pi.timer

--- Doing things later. Times are milliseconds, a year (31536000000) at most: one that is longer raises. Timers end with the hook.
---@class pi.timer
local timer = {}

--- Waits. Other handlers of the hook run meanwhile.
---@param ms number
function timer.sleep(ms) end

--- Calls `fn` once.
---@param ms number
---@param fn fun()
---@return fun(): boolean cancel true when there was something to cancel
function timer.after(ms, fn) end

--- Calls `fn` again and again; while it runs, none is due.
---@param ms number
---@param fn fun()
---@return fun(): boolean cancel true when there was something to cancel
function timer.every(ms, fn) end

return timer
