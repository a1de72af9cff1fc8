---@meta pi.compat.pi_v2

--- The API of pi, the TypeScript one, for its hooks: `local pi = require "pi.compat.pi_v2"` as the first line. What it does not have itself is that of the global `pi`.
---@class pi.compat.pi_v2
local v2 = {}

--- Listens to an event by its name there.
---@param event string
---@param fn function
---@return fun() off takes the handler off again
function v2.on(event, fn) end

--- Makes the default export of a file: `return require("pi.compat.pi_v2").hook(function(pi) … end)`.
---@param fn function gets this object
---@return function
function v2.hook(fn) end

return v2
