---@meta pi.text

--- Text for people and models: cut, measured, wrapped, and without secrets. Escape sequences take no columns and stay whole.
---@class pi.text
local text = {}

--- Options of `text.truncate`.
---@class pi.TruncateOptions
---@field lines? integer at most; no limit unless said
---@field bytes? integer at most; no limit unless said
---@field keep? "head"|"tail" which end stays; `head` unless said
---@field marker? string stands where something is missing

--- What `text.truncate` did.
---@class pi.TruncateInfo
---@field truncated boolean
---@field total_lines integer
---@field output_lines integer
---@field total_bytes integer
---@field output_bytes integer

--- One end of a text: whole lines as long as one fits, and never half a character.
---@param s string
---@param opts? pi.TruncateOptions
---@return string text
---@return pi.TruncateInfo info
function text.truncate(s, opts) end

--- The columns of a terminal that a text takes; of several lines, the widest.
---@param s string
---@return integer
function text.width(s) end

--- Options of `text.fit`.
---@class pi.FitOptions
---@field marker? string stands where something is missing; `…` unless said

--- The text as one line of so many columns at most.
---@param s string
---@param width integer
---@param opts? pi.FitOptions
---@return string
function text.fit(s, width, opts) end

--- Options of `text.wrap`.
---@class pi.WrapOptions
---@field indent? string before the first line
---@field hanging? string before the others; like `indent` unless said

--- The text as lines of so many columns at most, broken at spaces. Raises when the width leaves no room.
---@param s string
---@param width integer
---@param opts? pi.WrapOptions
---@return string[]
function text.wrap(s, width, opts) end

--- Options of `text.redact`.
---@class pi.RedactOptions
---@field patterns? string[] further ones, of `pi.re`; the first group is what is hidden, if there is one
---@field defaults? boolean false: only `patterns`
---@field replacement? string `[redacted]` unless said

--- The text without what looks like a key, a token, a password or a private key. It goes by shapes and names, so it makes accidents rarer and proves nothing. Raises when a pattern is found more than 1,000,000 times, or the result is larger than 64 MiB.
---@param s string
---@param opts? pi.RedactOptions
---@return string text
---@return integer count how many were hidden
function text.redact(s, opts) end

--- The text of a message, or of its content: that of its text blocks, one below the other. Thoughts, calls and images are left out.
---@param message table|string a message, its content, or a text, which is returned
---@return string
function text.of(message) end

--- The fields between two lines of `---` at the head of a text. A field is a text, a list or a table of fields; numbers are text too.
---@param s string
---@return table<string, string|string[]|table> fields empty without a head
---@return string body what follows the head
---@return string[]? problems what could not be read, each with its line
function text.front_matter(s) end

return text
