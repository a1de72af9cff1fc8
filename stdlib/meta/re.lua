---@meta pi.re

--- Regular expressions in RE2 syntax: their time grows with the text only, whatever the pattern. What is no pattern raises.
---@class pi.re
local re = {}

--- What a pattern found. Its groups are 1, 2, …, each a string, or false when it took no part.
---@class pi.Match
---@field text string all of it
---@field first integer where it begins in the text, from 1
---@field last integer where it ends
---@field named table<string, string|false> the groups that have a name
---@field [integer] string|false

--- How many matches count.
---@class pi.MatchOptions
---@field max? integer no limit unless said

--- The first match, or nil.
---@param text string
---@param pattern string
---@return pi.Match?
function re.match(text, pattern) end

--- Whether there is a match.
---@param text string
---@param pattern string
---@return boolean
function re.test(text, pattern) end

--- All matches, in their order.
---@param text string
---@param pattern string
---@param opts? pi.MatchOptions
---@return pi.Match[]
function re.find_all(text, pattern, opts) end

--- The text with something else in the place of each match: a text with `$1`, `${name}` and `$$`, or what a function returns; nil leaves the match.
---@param text string
---@param pattern string
---@param replacement string|fun(match: pi.Match): string?
---@param opts? pi.MatchOptions
---@return string text
---@return integer count how many were replaced
function re.replace(text, pattern, replacement, opts) end

--- The pieces between the matches. With `max`, the last piece is the rest.
---@param text string
---@param pattern string
---@param opts? pi.MatchOptions
---@return string[]
function re.split(text, pattern, opts) end

--- A pattern that fits exactly this text.
---@param text string
---@return string
function re.escape(text) end

--- Tells whether a text is a pattern, for those that come from others.
---@param pattern string
---@return boolean? ok
---@return string? message what is wrong with it
function re.check(pattern) end

return re
