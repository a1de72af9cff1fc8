---@meta pi.hash

--- Sums of bytes, as lower-case hexadecimal text, and random bytes.
---@class pi.hash
local hash = {}

--- SHA-256.
---@param bytes string
---@return string
function hash.sha256(bytes) end

--- SHA-512.
---@param bytes string
---@return string
function hash.sha512(bytes) end

--- SHA-1, for talking to others; it protects nothing.
---@param bytes string
---@return string
function hash.sha1(bytes) end

--- MD5, for talking to others; it protects nothing.
---@param bytes string
---@return string
function hash.md5(bytes) end

--- HMAC with SHA-256, as webhooks sign with.
---@param key string
---@param bytes string
---@return string
function hash.hmac_sha256(key, bytes) end

--- Bytes as hexadecimal text.
---@param bytes string
---@return string
function hash.hex(bytes) end

--- The bytes of a hexadecimal text.
---@param text string
---@return string? bytes
---@return string? message it is not hexadecimal
function hash.unhex(text) end

--- Bytes that nobody can guess, for tokens and names.
---@param n integer 0 to 1048576
---@return string bytes
function hash.random(n) end

return hash
