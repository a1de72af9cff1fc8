---@meta pi.git

--- What git says of a repository. Nothing here changes it, and no program that its own settings name is run.
---@class pi.git
local git = {}

--- Options of `git.env`, `git.root`, `git.branch` and `git.status`.
---@class pi.GitOptions
---@field cwd? string a directory in the repository; the working directory unless said

--- Variables with which git runs no program that the repository's own settings name, no filter, no hook, no monitor, and
--- fetches nothing: `env` of `pi.exec` for other commands of git. Programs of your own settings go on to run. So do those of
--- repositories inside of this one where git goes into them: give `--ignore-submodules=dirty` to `status` and `diff`, and leave
--- their paths out of `add`.
---@param opts? pi.GitOptions
---@return table<string, string>? env
---@return string? message there is no git, or the settings of the repository cannot be read
function git.env(opts) end

--- The topmost directory of the repository.
---@param opts? pi.GitOptions
---@return string? path
---@return string? message it is no repository, or there is no git
function git.root(opts) end

--- The branch that is checked out.
---@param opts? pi.GitOptions
---@return string? name
---@return string? message it is no repository, or no branch is checked out
function git.branch(opts) end

--- A file that has changed. The letters are those of `git status --short`.
---@class pi.GitChange
---@field path string from the root of the repository
---@field index string what is staged: `M`, `A`, `D`, `R`, `C`, `U`, `?` or a blank
---@field worktree string what is not
---@field from? string the path before it was renamed

--- The files that have changed.
---@param opts? pi.GitOptions
---@return pi.GitChange[]? changes
---@return string? message it is no repository, or there is no git
function git.status(opts) end

--- Options of `git.diff`.
---@class pi.GitDiffOptions
---@field cwd? string a directory in the repository; the working directory unless said
---@field staged? boolean what is staged, in the place of what is not
---@field base? string what differs from this revision
---@field paths? string[] only these

--- The changes as a unified diff.
---@param opts? pi.GitDiffOptions
---@return string? text
---@return string? message it is no repository, or there is no such revision
function git.diff(opts) end

--- Another copy of the repository.
---@class pi.GitRemote
---@field name string such as `origin`
---@field url string where it is, as the settings of git have it, without the name and password of a user over HTTP
---@field push_url? string where it is pushed, if that is another address

--- The remotes of the repository, sorted by name. They are text in the settings of a clone, and prove nothing of where it came from.
---@param opts? pi.GitOptions
---@return pi.GitRemote[]? remotes
---@return string? message it is no repository, or there is no git
function git.remotes(opts) end

return git
