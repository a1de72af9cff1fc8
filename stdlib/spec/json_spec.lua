t.equal(json.encode({ a = { 1, true } }), '{"a":[1,true]}')
t.equal(json.decode('[1,{"b":2}]'), { 1, { b = 2 } })
t.equal(json.decode("null") == json.null, true)
t.fails("decode JSON: ", json.decode("{"))
t.raises(function() json.encode(print) end, "json.encode: a function cannot be JSON")
t.raises(function() json.decode({}) end, "string expected, got table")
t.equal(json.encode{ a = json.list() }, '{"a":[]}')
local list = json.list{}
list[1] = "x"
t.equal(json.encode(list), '["x"]')
t.equal(json.encode(json.list{}), "[]")
t.raises(function() json.list("x") end, "json.list: a table expected, got string")
