t.equal(json.encode({ a = { 1, true } }), '{"a":[1,true]}')
t.equal(json.decode('[1,{"b":2}]'), { 1, { b = 2 } })
t.equal(json.decode("null") == json.null, true)
local keys = {}
for key in pairs(json.decode('{"z":1,"10":2,"y":3,"a":4,"x":5}')) do keys[#keys + 1] = key end
t.equal(table.concat(keys, " "), "z 10 y a x")
t.fails("decode JSON: ", json.decode("{"))
t.raises(function() json.encode(print) end, "json.encode: a function cannot be JSON")
t.raises(function() json.decode({}) end, "string expected, got table")
t.equal(json.encode{ a = json.list() }, '{"a":[]}')
local list = json.list{}
list[1] = "x"
t.equal(json.encode(list), '["x"]')
t.equal(json.encode(json.list{}), "[]")
t.raises(function() json.list("x") end, "json.list: a table expected, got string")

t.equal(json.encode({ a = { 1, {} }, b = json.list() }, { indent = 2 }), '{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}')
local record = { zeta = 1, name = "n", alpha = { id = 2, name = "m" } }
t.equal(json.encode(record, { keys = { "name", "alpha", "missing", "id" } }):sub(1, 48), '{"name":"n","alpha":{"name":"m","id":2},"zeta":1')
t.equal(json.encode(json.decode('{"b":1.50,"a":[]}'), { keys = { "a" }, indent = 1 }), '{\n "a": [],\n "b": 1.50\n}')
t.equal(json.encode("x", { indent = 4 }), '"x"')
t.raises(function() json.encode({}, { indent = 17 }) end, "a number of blanks up to 16")
t.raises(function() json.encode({}, { indent = "  " }) end, "indent")
t.raises(function() json.encode({}, { key = {} }) end, 'did you mean "keys"?')
t.raises(function() json.encode({ ("x"):rep(9 * 1024 * 1024) }, { indent = 1 }) end, "the JSON is larger than 8")
local deep = {}
for _ = 1, 300 do deep = { deep } end
t.raises(function() json.encode(deep) end, "nested more than 256 deep")
t.raises(function() json.encode(json.decode(("["):rep(300) .. ("]"):rep(300)), { indent = 1 }) end, "nested more than 256 deep")
