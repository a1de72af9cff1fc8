---@meta pi.diff

--- Differences between texts.
---@class pi.diff
local diff = {}

--- Options of `diff.unified`.
---@class pi.DiffOptions
---@field from? string what the old text is called; `a` unless said
---@field to? string what the new text is called; `b` unless said
---@field context? integer lines around a change; 3 unless said

--- A unified diff; empty when the texts are equal.
---@param old string
---@param new string
---@param opts? pi.DiffOptions
---@return string? text
---@return string? message the texts are larger than 16 MiB together, or have more than 1,000,000 lines
function diff.unified(old, new, opts) end

return diff
