---@meta pi.time

--- Times are milliseconds since the beginning of 1970 in UTC, as in messages. Text is UTC unless `zone` says otherwise.
---@class pi.time
local time = {}

--- How a time and a text belong together.
---@class pi.TimeOptions
---@field zone? string `utc`, `local`, or a name such as `Europe/Berlin`

--- Now.
---@return integer ms
function time.now() end

--- How long ago a time was.
---@param ms number
---@return number ms
function time.since(ms) end

--- A time as `2026-01-31T12:00:00.000Z`; now unless given.
---@param ms? number
---@param opts? pi.TimeOptions
---@return string? text
---@return string? message the zone is not known
function time.iso(ms, opts) end

--- A time in a layout of strftime: `%Y %m %d %H %M %S`, `%L` for milliseconds, `%y %b %B %a %A %e %j %I %p %Z %z %s %F %T %%`. Raises for another letter.
---@param ms number
---@param layout string
---@param opts? pi.TimeOptions
---@return string? text
---@return string? message the zone is not known
function time.format(ms, layout, opts) end

--- The time of a text: RFC 3339, a date with or without a time of day, or as in e-mail. The zone is for texts that name none.
---@param text string
---@param opts? pi.TimeOptions
---@return integer? ms
---@return string? message it is no time that is known
function time.parse(text, opts) end

--- A length of time for people: `850ms`, `1.5s`, `1h 2m 3s`.
---@param ms number
---@return string
function time.duration(ms) end

return time
