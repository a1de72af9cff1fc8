---@meta pi.sh

--- Shell command lines (of bash), read and not run.
---@class pi.sh
local sh = {}

--- One simple command of a line. A word that only the shell can know, because it has a variable, a pattern, a substitution or braces in it, is `?`.
---@class pi.ShellCommand
---@field name? string the program without its directory: `rm` of `\rm`, `r''m` and `/bin/rm`; nil when only the shell can know it
---@field args string[] the words after it
---@field words string[] all words as the program gets them, without quotes and escapes
---@field text string as it is written
---@field assigns pi.ShellAssign[] the assignments before it
---@field redirects pi.ShellRedirect[]
---@field via? string the command that runs it: `sudo`, `env`, `xargs`, `sh`, `find`, …
---@field unknown boolean this is not the whole truth about it

--- An assignment before a command.
---@class pi.ShellAssign
---@field name string
---@field value string

--- A redirection.
---@class pi.ShellRedirect
---@field op string such as `>`
---@field path string
---@field fd? string

--- The commands of a line. `unknown` is true when anything in the line was not understood to the end; then others may run than those that are listed, and a gate takes the line for dangerous. What is understood is a list: "What `sh.commands` understands" in docs/reference.md.
---@class pi.ShellCommands
---@field unknown boolean
---@field unknown_text? string where it is unknown: the first piece that was not understood, on one line, cut after 200 bytes
---@field unknown_why? string what is the matter with it
---@field [integer] pi.ShellCommand

--- Lists the simple commands of a line as they are written, also those in pipelines, loops and substitutions, and after `sudo`, `xargs`, `sh -c` and their like what these run. `name` is without a directory, which is right for a list of what is dangerous; a list of what is allowed compares `words[1]`, or `./ls` passes for `ls`.
---@param line string
---@return pi.ShellCommands? commands
---@return string? message it is no shell syntax
function sh.commands(line) end

--- Text that the shell reads as exactly these words.
---@param words string|string[]
---@return string
function sh.quote(words) end

return sh
