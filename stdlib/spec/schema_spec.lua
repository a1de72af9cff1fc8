local json = require "pi.json"
local function is(got, want) t.equal(json.encode(got), want) end
is(schema.string(), '{"type":"string"}')
is(schema.string("a name"), '{"type":"string","description":"a name"}')
is(schema.string{ min_length = 1, max_length = 9, pattern = "^a", format = "uri", default = "a" }, '{"type":"string","default":"a","minLength":1,"maxLength":9,"pattern":"^a","format":"uri"}')
is(schema.number{ exclusive_minimum = 0, multiple_of = 0.5 }, '{"type":"number","exclusiveMinimum":0,"multipleOf":0.5}')
is(schema.integer{ minimum = 1, maximum = 5, title = "n", examples = { 2 } }, '{"type":"integer","title":"n","examples":[2],"minimum":1,"maximum":5}')
is(schema.boolean{ default = false }, '{"type":"boolean","default":false}')
is(schema.null(), '{"type":"null"}')
is(schema.any("whatever"), '{"description":"whatever"}')
is(schema.enum({ "a", "b" }, "which"), '{"type":"string","enum":["a","b"],"description":"which"}')
is(schema.enum({ 1, "b" }), '{"enum":[1,"b"]}')
is(schema.const("x"), '{"const":"x"}')
is(schema.array(schema.string(), { min_items = 1, unique_items = true }), '{"type":"array","items":{"type":"string"},"minItems":1,"uniqueItems":true}')
is(schema.array(), '{"type":"array"}')
is(schema.map(schema.number()), '{"type":"object","additionalProperties":{"type":"number"}}')
is(schema.any_of({ schema.string(), schema.null() }), '{"anyOf":[{"type":"string"},{"type":"null"}]}')
is(schema.object({ z = schema.string(), a = schema.optional(schema.integer()) }, { additional_properties = false }), '{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"integer"}},"required":["z"],"additionalProperties":false}')
is(schema.object({ z = schema.string() }, "d"), '{"type":"object","properties":{"z":{"type":"string"}},"required":["z"],"description":"d"}')
is(schema.object{}, '{"type":"object","properties":{}}')
is(schema.object{ a = schema.optional(schema.integer()) }, '{"type":"object","properties":{"a":{"type":"integer"}}}')
t.raises(function() schema.string{ min = 1 } end, 'schema.string: unknown option "min"')
t.raises(function() schema.string{ min_length = "1" } end, 'option "min_length" must be a number, not a string')
t.raises(function() schema.number{ minimun = 1 } end, 'did you mean "minimum"?')
t.raises(function() schema.integer(1) end, "table expected, got number")
t.raises(function() schema.boolean({}, {}) end, "takes at most 1 argument")
t.raises(function() schema.null(true) end, "table expected")
t.raises(function() schema.any{ typ = 1 } end, "unknown option")
t.raises(function() schema.enum({}) end, "a list of values is needed")
t.raises(function() schema.const() end, "a value is needed")
t.raises(function() schema.array("string") end, "schema expected, got string")
t.raises(function() schema.map(1) end, "schema expected, got number")
t.raises(function() schema.any_of({ "string" }) end, "element 1 is no schema but a string")
t.raises(function() schema.object{ a = "string" } end, 'property "a" is no schema but a string')
t.raises(function() schema.object{ schema.string() } end, "properties have names")
t.raises(function() schema.object() end, "table expected")
t.raises(function() schema.optional("x") end, "table expected")
t.raises(function() require("pi.json").encode(schema.optional(schema.string())) end, "userdata cannot be JSON")

local person = schema.object({
  name = schema.string{ min_length = 1 },
  age = schema.integer{ minimum = 0 },
  tags = schema.optional(schema.array(schema.string())),
}, { additional_properties = false })
t.equal(schema.check(person, { name = "a", age = 3 }), true)
t.equal(schema.check(person, { name = "a", age = 3, tags = {} }), true) -- an empty table is a list where one is wanted
t.equal(schema.check(schema.string(), "x"), true)
local ok, wrong = schema.check(person, { name = 1, tags = { "x", 2 }, nick = "b" })
t.equal(ok == nil, true)
local said = {}
for _, w in ipairs(wrong) do said[#said + 1] = w.path .. ": " .. w.message end
t.equal(said, { "/name: expected string, got integer", "/tags/1: expected string, got integer",
  '/: required property "age" is missing', '/: unknown property "nick"' })
local _, missing = schema.check(schema.object{ a = schema.object{ b = schema.any() } }, { a = { c = 1 } })
t.equal({ missing[1].path, missing[1].message }, { "/a", 'required property "b" is missing' })
local _, nothing = schema.check(schema.string(), nil)
t.equal(nothing[1].message, "expected string, got null")
t.raises(function() schema.check("x", 1) end, "table expected")
t.raises(function() schema.check(person, print) end, "the value: a function cannot be JSON")
t.raises(function() schema.check({ type = 1 }, 1) end, "schema.check: the schema cannot be used: /type")
t.raises(function() schema.check(person, ("x"):rep(9 * 1024 * 1024)) end, "the value is larger than 8 MiB")
local deep = {}
for _ = 1, 300 do deep = { deep } end
t.raises(function() schema.check(person, deep) end, "nested more than 256 deep")
