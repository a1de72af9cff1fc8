---@meta pi.json

--- JSON. What was decoded and not changed encodes as it came: large numbers, empty lists, the order of keys.
---@class pi.json
---@field null userdata stands for null where nil cannot: in lists, and as a whole text
local json = {}

--- Options of `json.encode`.
---@class pi.EncodeOptions
---@field indent? integer blanks for each level, at most 16; all stands in one line unless said
---@field keys? string[] keys that come first in each object, in this order; the others follow as they were set

--- A value as JSON. Raises for what JSON cannot hold, and names where it is: also for what is nested more than 256 deep, or, with options, larger than 8 MiB. An empty table that was not decoded is `{}`.
---@param value any
---@param opts? pi.EncodeOptions
---@return string
function json.encode(value, opts) end

--- The value of a text. `pairs` goes through an object in the order of the text.
---@param text string
---@return any? value
---@return string? message it is not JSON
function json.decode(text) end

--- A list, which is `[]` in JSON also when it is empty.
---@param table? table what is to be one; a new one unless said
---@return table list
function json.list(table) end

return json
