package luavm

import "testing"

// A statement that must be rewritten is found wherever statements can stand.
func TestRepairReachesEveryPlace(t *testing.T) {
	const swap = `(function() local a, b = 1, 2 a, b = b, a return a * 10 + b end)()`
	for _, src := range []string{
		`return ` + swap,
		`local x = ` + swap + ` return x`,
		`local x x = ` + swap + ` return x`,
		`local t = {} t[` + swap + `] = 21 return t[21]`,
		`do local a, b = 1, 2 a, b = b, a return a * 10 + b end`,
		`local n = 0 while n == 0 do local a, b = 1, 2 a, b = b, a n = a * 10 + b end return n`,
		`while ` + swap + ` ~= 21 do return 0 end return 21`,
		`local n repeat local a, b = 1, 2 a, b = b, a n = a * 10 + b until true return n`,
		`local n = 0 repeat n = n + 1 until n > 5 or ` + swap + ` == 21 return n + 20`,
		`if true then local a, b = 1, 2 a, b = b, a return a * 10 + b end`,
		`if false then return 0 else local a, b = 1, 2 a, b = b, a return a * 10 + b end`,
		`if false then return 0 elseif ` + swap + ` == 21 then return 21 end`,
		`for i = ` + swap + `, 100 do return i end`,
		`local n for i = 1, ` + swap + ` do n = i end return n`,
		`local n for i = 0, 42, ` + swap + ` do n = i / 2 end return n`,
		`for i = 1, 1 do local a, b = 1, 2 a, b = b, a return a * 10 + b end`,
		`for _, v in ipairs { ` + swap + ` } do return v end`,
		`for _ in pairs { 1 } do local a, b = 1, 2 a, b = b, a return a * 10 + b end`,
		`local function f() local a, b = 1, 2 a, b = b, a return a * 10 + b end return f()`,
		`local t = {} function t.f() local a, b = 1, 2 a, b = b, a return a * 10 + b end return t.f()`,
		`local t = {} function t:f() local a, b = 1, 2 a, b = b, a return a * 10 + b end return t:f()`,
		`return tonumber(` + swap + `)`,
		`return ({ x = ` + swap + ` }).x`,
		`return ({ [` + swap + `] = 21 })[21]`,
		`return tonumber(("" .. ` + swap + `):rep(1))`,
		`return ` + swap + ` .. ""`,
		`return ` + swap + ` + 0`,
		`return -(-` + swap + `)`,
		`return not (not (` + swap + ` == 21)) and 21`,
		`return #("x"):rep(` + swap + `)`,
		`return false or ` + swap,
		`return (` + swap + ` < 22) and 21`,
	} {
		if got, err := returned("place", src); err != nil || got != "21" {
			t.Errorf("%s\n got %s, %v, want 21", src, got, err)
		}
	}
}
