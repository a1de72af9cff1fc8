package luavm

import (
	"strings"
	"testing"
)

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

func TestAMultipleAssignmentReadsEverythingBeforeItWrites(t *testing.T) {
	for src, want := range map[string]string{
		`local a, b = 1, 2; a, b = b, a; return a .. b`:                                                                      "21",
		`local a, b, c = 1, 2, 3; a, b, c = c, a, b; return a .. b .. c`:                                                     "312",
		`local a, b = 0, 1; for _ = 1, 9 do a, b = b, a + b end; return a`:                                                   "34",
		`local s, again = "abc"; s, again = s:sub(2), true; return s .. tostring(again)`:                                     "bctrue",
		`local function id(x) return x end; local s, n = "abc", 0; s, n = id(s:sub(2)), #s; return s .. n`:                   "bc3",
		`local function two() return 1, 2 end; local a, b, c = 7, 8, 9; a, b, c = c, two(); return a .. b .. c`:              "912",
		`local function two() return 1, 2 end; local a, b = 7, 8; a, b = two(); return a .. b`:                               "12",
		`local a, b = 7, 8; a, b = b; return a .. tostring(b)`:                                                               "8nil",
		`local a, b = 7, 8; a, b = b, a, error; return a .. b`:                                                               "87",
		`local i, t = 3, {}; i, t[i] = i + 1, 20; return i .. tostring(t[3])`:                                                "420",
		`local i, t = 3, {}; t[i], i = 20, i + 1; return i .. tostring(t[3])`:                                                "420",
		`local t = {x = 1}; local old = t; t, t.x = {x = 5}, 9; return t.x .. old.x`:                                         "59",
		`local t, a = {}, 1; t.x, a = a, 5; return t.x .. a`:                                                                 "15",
		`local t, a = {}, 1; a, t.x = tostring(a) .. "!", a; return a .. t.x`:                                                "1!1",
		`local t = {1, 2}; t[1], t[2] = t[2], t[1]; return t[1] .. t[2]`:                                                     "21",
		`local a, b = 1, 2; local function swap() a, b = b, a end; swap(); return a .. b`:                                    "21",
		`local function f(...) local a, b = 5, 6; a, b = b, ...; return a .. b end; return f(1)`:                             "61",
		`local t = {}; function t.f(a, b) if a then repeat a, b = b, a until true end return a .. b end; return (t.f(1, 2))`: "21",
		`local f = {g = function(a, b) while true do a, b = b, a; break end return a .. b end}; return f.g(1, 2)`:            "21",
	} {
		if got, err := returned("assign", src); err != nil || got != want {
			t.Errorf("%s\n got %q, want %q, %v", src, got, want, err)
		}
	}
}

func TestAFailureInAMultipleAssignmentNamesItsLine(t *testing.T) {
	_, err := returned("assign", "local a, b = 1\n\na, b = b,\n  b.x\nreturn a")
	if want := `assign:4: attempt to index "b", which is nil, with key "x"`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestSourceThatNestsTooDeepIsRefused(t *testing.T) {
	const n = 100_000
	for _, src := range []string{
		"return " + strings.Repeat("{", n) + strings.Repeat("}", n),
		"return " + strings.Repeat("- ", n) + "1",
		"return 1" + strings.Repeat("^a", n),
	} {
		if _, err := Compile("deep", []byte(src)); err == nil || err.Error() != "deep:1: cannot be compiled: it is nested too deep" {
			t.Errorf("%.20s…: error %v", src, err)
		}
	}
}

func TestSourceAsDeepAsAnybodyWritesItIsCompiled(t *testing.T) {
	const n = 150
	src := "return " + strings.Repeat("{", n) + strings.Repeat("}", n) + ", 1" + strings.Repeat(" .. '1'", n)
	if _, err := Compile("deep", []byte(src)); err != nil {
		t.Error(err)
	}
}

func TestLoopOverAComputedReceiverRuns(t *testing.T) {
	for _, loop := range []string{
		`for l in (t:upper() .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in (id(t) .. id("\n")):gmatch("(.-)\n") do add(l) end`,
		`for l in (t .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in ("" .. id(t) .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in id(t .. "\n"):gmatch("(.-)\n") do add(l) end`,
		`for l in t:lower():upper():gmatch("[^\n]+") do add(l) end`,
		`for l in (id(t)):gmatch("[^\n]+") do add(l) end`,
		`for i = 1, 1 do local f = function() for l in (t:upper() .. "\n"):gmatch("(.-)\n") do add(l) end end f() end`,
		`for _, l in ipairs({id("a"), id("b")}) do add(l) end`,
	} {
		src := `local out = {}
local function add(l) out[#out + 1] = l:lower() end
local function id(s) return s end
local function run(t) ` + loop + ` end
run("a\nb")
return table.concat(out, ",")`
		if got, err := returned("loop", src); err != nil || got != "a,b" {
			t.Errorf("%s\n got %q, %v", loop, got, err)
		}
	}
}
