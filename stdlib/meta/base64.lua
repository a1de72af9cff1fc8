---@meta pi.base64

--- Bytes as text.
---@class pi.base64
local base64 = {}

--- Bytes in the standard alphabet, padded.
---@param bytes string
---@return string
function base64.encode(bytes) end

--- The bytes of a text; line breaks and missing padding do not matter.
---@param text string
---@return string? bytes
---@return string? message it is not base64
function base64.decode(text) end

--- Bytes with `-` and `_` for `+` and `/`, not padded.
---@param bytes string
---@return string
function base64.url_encode(bytes) end

--- The bytes of such a text.
---@param text string
---@return string? bytes
---@return string? message it is not base64
function base64.url_decode(text) end

return base64
