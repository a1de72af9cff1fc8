---@meta pi.fs

--- Files. Relative paths begin in the working directory. `read`, `exists`, `stat`, `list`, `glob` and `real` work while the file of a hook loads, so that its rules may stand in a file of their own; the others raise there.
---@class pi.fs
local fs = {}

--- What a path leads to.
---@alias pi.FileKind "file"|"directory"|"link"|"other"

--- Options of `fs.read`.
---@class pi.ReadFileOptions
---@field max_bytes? integer 64 MiB unless said, and at most

--- The text of a regular file.
---@param path string
---@param opts? pi.ReadFileOptions
---@return string? text
---@return string? message why it cannot be read
function fs.read(path, opts) end

--- Options of `fs.write`.
---@class pi.WriteFileOptions
---@field mkdir? boolean make the directories that are missing
---@field append? boolean add to the end of the file, in place
---@field exclusive? boolean only where nothing is, else nil and `exists`: of several programs that do so, one succeeds

--- Writes a file, whole or not at all. The mode of one that is there stays.
---@param path string
---@param text string
---@param opts? pi.WriteFileOptions
---@return boolean? ok
---@return string? message why it cannot be written
function fs.write(path, text, opts) end

--- Whether there is something. A link to nowhere is nothing.
---@param path string
---@return boolean
function fs.exists(path) end

--- Options of `fs.stat`.
---@class pi.StatOptions
---@field follow? boolean false: the link itself, not what it leads to

--- What is known of a file.
---@class pi.FileInfo
---@field name string
---@field kind pi.FileKind
---@field size integer bytes
---@field mode string octal, such as `0644`
---@field modified integer a time of `pi.time`

--- What is known of a path.
---@param path string
---@param opts? pi.StatOptions
---@return pi.FileInfo? info
---@return string? message there is nothing, or it cannot be looked at
function fs.stat(path, opts) end

--- One thing in a directory.
---@class pi.DirEntry
---@field name string
---@field kind pi.FileKind

--- What is in a directory, sorted by name.
---@param path? string the working directory unless said
---@return pi.DirEntry[]? entries
---@return string? message it is no directory, or cannot be read
function fs.list(path) end

--- Options of `fs.glob`.
---@class pi.GlobOptions
---@field dir? string where a relative pattern begins; the working directory unless said
---@field files? boolean leave directories out

--- The paths that a pattern fits, sorted: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any depth. Raises for what is no pattern.
---@param pattern string
---@param opts? pi.GlobOptions
---@return string[]? paths
---@return string? message the directory cannot be read, or it would be more than 100000
function fs.glob(pattern, opts) end

--- Options of `fs.mkdir`.
---@class pi.MkdirOptions
---@field parents? boolean make those above, and be content when it is there

--- Makes a directory.
---@param path string
---@param opts? pi.MkdirOptions
---@return boolean? ok
---@return string? message why it cannot be made
function fs.mkdir(path, opts) end

--- Options of `fs.remove`.
---@class pi.RemoveOptions
---@field recursive? boolean with everything in it

--- Removes a file or an empty directory.
---@param path string
---@param opts? pi.RemoveOptions
---@return boolean? ok
---@return string? message why it cannot be removed
function fs.remove(path, opts) end

--- Moves or renames a file or directory. A file that is there is replaced; where a directory is, the message is `exists`.
---@param from string
---@param to string
---@return boolean? ok
---@return string? message why it cannot be moved; to another disk it cannot: `fs.copy`, then `fs.remove`
function fs.rename(from, to) end

--- Options of `fs.copy`.
---@class pi.CopyOptions
---@field recursive? boolean a directory, with everything in it; links in it stay links

--- Copies a file, or a directory, whole or not at all. A file that is there is replaced and keeps its mode; a copy that is new has that of the source. Where a directory is, the message is `exists`, and so it is for a directory where anything is.
---@param from string
---@param to string
---@param opts? pi.CopyOptions
---@return boolean? ok
---@return string? message why it cannot be copied
function fs.copy(from, to, opts) end

--- Calls `fn` while nobody else has the lock of a path, and returns what it returns. The file need not be there. The tools `write` and `edit` take the same lock, in every program that has the same agent directory, and so does every other `fs.locked`: whoever comes later waits, the tools for at most a minute. In what `fn` calls, `pi.call_tool` too, the lock counts as held. It ends with `fn`, and with the program however that ends. Who asks for no lock is not kept out: `fs.write`, editors, the tool `bash`. What `fn` raises is raised.
---@param path string
---@param fn fun(): any
---@return any ... what `fn` returns, or nil and a message when the lock cannot be made
function fs.locked(path, fn) end

--- Options of `fs.real`.
---@class pi.RealOptions
---@field missing? boolean what does not exist will do: it is where it would be made, behind links to nowhere too

--- The absolute path without symbolic links. They are followed before `..`, as the system does it.
---@param path string
---@param opts? pi.RealOptions
---@return string? path
---@return string? message there is nothing, or it cannot be resolved
function fs.real(path, opts) end

--- Options of `fs.watch`.
---@class pi.WatchOptions
---@field delay? integer ms for which changes are collected; 50 unless said

--- A change of a file.
---@class pi.FileChange
---@field path string
---@field kind "create"|"write"|"remove"

--- What `fs.watch` returns.
---@class pi.Watch
local watch = {}

--- Ends it. It ends with the hook by itself.
function watch.close() end

--- Calls `fn` when a file, or something in a directory, changes. Editors that save by renaming are seen as writing.
---@param path string
---@param fn fun(event: pi.FileChange)
---@param opts? pi.WatchOptions
---@return pi.Watch? watch
---@return string? message it cannot be watched
function fs.watch(path, fn, opts) end

--- Options of `fs.temp`.
---@class pi.TempOptions
---@field dir? boolean a directory in the place of a file
---@field suffix? string the end of its name, such as `.md`

--- Makes an empty file, or a directory, that only you can read. It is removed when the hook ends or is reloaded.
---@param opts? pi.TempOptions
---@return string? path
---@return string? message why it cannot be made
function fs.temp(opts) end

--- Sets who may read, write and run a file. Raises for a mode that is not three octal digits.
---@param path string
---@param mode string octal, such as `600`
---@return boolean? ok
---@return string? message why it cannot be changed
function fs.chmod(path, mode) end

return fs
