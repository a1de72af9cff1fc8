---@meta pi.path

--- Paths as text. Nothing here looks at a file.
---@class pi.path
local path = {}

--- The parts joined and cleaned.
---@param ... string
---@return string
function path.join(...) end

--- All but the last part.
---@param p string
---@return string
function path.dir(p) end

--- The last part.
---@param p string
---@return string
function path.base(p) end

--- The shortest path that means the same, without `.` and inner `..`.
---@param p string
---@return string
function path.clean(p) end

--- It begins at the root.
---@param p string
---@return boolean
function path.is_abs(p) end

--- The ending of the last part: `.gz` of `a.tar.gz`; empty when there is none, and for hidden files.
---@param p string
---@return string
function path.ext(p) end

--- The last part without its ending: `a.tar` of `a.tar.gz`.
---@param p string
---@return string
function path.stem(p) end

--- The path from the root.
---@param p string
---@param base? string where a relative path begins; the working directory unless said
---@return string
function path.abs(p, base) end

--- The path as seen from a directory.
---@param p string
---@param base? string the directory; the working directory unless said
---@return string? path
---@return string? message there is no way, as between two drives
function path.rel(p, base) end

--- Its parts: `/`, `usr`, `bin`.
---@param p string
---@return string[]
function path.split(p) end

--- The path with the home directory for a leading `~`.
---@param p string
---@return string? path
---@return string? message it is the home of somebody else, or there is none
function path.expand(p) end

--- Whether a pattern fits the whole path: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any depth. Raises for what is no pattern.
---@param p string
---@param pattern string
---@return boolean
function path.match(p, pattern) end

return path
