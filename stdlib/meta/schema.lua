---@meta pi.schema

--- JSON Schema, as `pi.tool` takes it for `parameters`. Each function also takes a description in the place of its options.
---@class pi.schema
local schema = {}

--- What every schema may have.
---@class pi.SchemaOptions
---@field description? string for the model
---@field title? string
---@field default? any
---@field examples? any[]

--- Options of `schema.string`.
---@class pi.StringSchemaOptions: pi.SchemaOptions
---@field min_length? integer
---@field max_length? integer
---@field pattern? string
---@field format? string
---@field secret? boolean of `pi.declare_settings`: the setting names a secret, and is shown nowhere
---@field enum? string[]

--- Options of `schema.number` and `schema.integer`.
---@class pi.NumberSchemaOptions: pi.SchemaOptions
---@field minimum? number
---@field maximum? number
---@field exclusive_minimum? number
---@field exclusive_maximum? number
---@field multiple_of? number
---@field enum? number[]

--- Options of `schema.object`.
---@class pi.ObjectSchemaOptions: pi.SchemaOptions
---@field additional_properties? boolean|table

--- Options of `schema.array`.
---@class pi.ArraySchemaOptions: pi.SchemaOptions
---@field min_items? integer
---@field max_items? integer
---@field unique_items? boolean

--- Options of `schema.map`.
---@class pi.MapSchemaOptions: pi.SchemaOptions
---@field min_properties? integer
---@field max_properties? integer

--- An object. All of its properties are required but those made with `optional`.
---@param properties table<string, any>
---@param opts? string|pi.ObjectSchemaOptions
---@return table
function schema.object(properties, opts) end

--- A text.
---@param opts? string|pi.StringSchemaOptions
---@return table
function schema.string(opts) end

--- A number.
---@param opts? string|pi.NumberSchemaOptions
---@return table
function schema.number(opts) end

--- A whole number.
---@param opts? string|pi.NumberSchemaOptions
---@return table
function schema.integer(opts) end

--- True or false.
---@param opts? string|pi.SchemaOptions
---@return table
function schema.boolean(opts) end

--- Null and nothing else.
---@param opts? string|pi.SchemaOptions
---@return table
function schema.null(opts) end

--- Any value.
---@param opts? string|pi.SchemaOptions
---@return table
function schema.any(opts) end

--- One of some values.
---@param values any[]
---@param opts? string|pi.SchemaOptions
---@return table
function schema.enum(values, opts) end

--- One value and no other.
---@param value any
---@param opts? string|pi.SchemaOptions
---@return table
function schema.const(value, opts) end

--- A list.
---@param items? table the schema of each element; any value unless said
---@param opts? string|pi.ArraySchemaOptions
---@return table
function schema.array(items, opts) end

--- An object with any keys.
---@param values? table the schema of each value; any value unless said
---@param opts? string|pi.MapSchemaOptions
---@return table
function schema.map(values, opts) end

--- What fits one of several schemas.
---@param schemas table[]
---@param opts? string|pi.SchemaOptions
---@return table
function schema.any_of(schemas, opts) end

--- A property that may be missing; only inside `object`.
---@param schema table
---@return userdata
function schema.optional(schema) end

--- A thing that is wrong with a value.
---@class pi.SchemaFault
---@field path string a JSON pointer into the value, such as `/items/0/name`, which counts from 0; `/` is the whole
---@field message string

--- Whether a value fits a schema; else nil and a list of what is wrong, the smallest parts that do not fit. An empty table is a list where one is wanted. Raises for a schema that is none, and for more than 8 MiB of JSON or 256 levels.
---@param schema table
---@param value any
---@return boolean? ok
---@return pi.SchemaFault[]? faults at most 100
function schema.check(schema, value) end

return schema
