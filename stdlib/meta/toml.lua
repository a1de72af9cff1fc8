---@meta pi.toml

--- TOML, the language of config.toml.
---@class pi.toml
local toml = {}

--- The table of a text of at most 8 MiB, nested at most 256 deep. Dates and times are texts, as ISO 8601 writes them.
---@param text string
---@return table? value
---@return string? message it is no TOML, with the line, or too large
function toml.decode(text) end

return toml
