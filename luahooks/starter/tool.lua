-- NAME: a tool for the model, which counts the lines and words of a file.
--
-- The model sees name, description and parameters and nothing else: say there when it is of
-- use. What execute returns is the result; an error that it raises is a failed call.

local fs = require "pi.fs"
local path = require "pi.path"
local schema = require "pi.schema"

pi.tool {
  name = "IDENT",
  description = "Count the lines and words of a text file. Cheaper than reading it.",
  parameters = schema.object {
    path = schema.string { description = "the file, relative to the working directory" },
  },
  annotations = { read_only = true }, -- gates and modes go by this
  execute = function(params, ctx)
    local text = assert(fs.read(path.join(ctx.cwd, params.path)))
    local _, lines = text:gsub("\n", "")
    local _, words = text:gsub("%S+", "")
    return { content = ("%d lines, %d words"):format(lines, words), details = { lines = lines, words = words } }
  end,
}
