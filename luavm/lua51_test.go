package luavm

import (
	"strings"
	"testing"
)

// What the suite of Lua 5.1 does not say, as it is there.
func TestTheLibraryIsThatOfLua51OrSaysThatItIsNot(t *testing.T) {
	h := newHook(t, Options{})
	h.must(t, `
	assert(math.huge == 1/0 and -math.huge == -1/0 and math.huge > 1e308)
	local f = string.format
	assert(f("%5d|%-5d|%05d|%+d|% d", 42, 42, 42, 42, 42) == "   42|42   |00042|+42| 42")
	assert(f("%d %i", 3.9, -3.9) == "3 -3" and f("%u", 7) == "7" and f("%x %X %#x %o", 255, 255, 255, 8) == "ff FF 0xff 10")
	assert(f("%x", -1) == "ffffffffffffffff")
	assert(f("%.3d", 5) == "005" and f("%5.1f|%e|%g|%g|%g", 3.14159, 12345.678, 1e20, 0.0001, 100000) == "  3.1|1.234568e+04|1e+20|0.0001|100000")
	assert(f("%g %g %.3g %G %#g", 1e-5, 123456789, 1234567, 1e-10, 1) == "1e-05 1.23457e+08 1.23e+06 1E-10 1.00000")
	assert(f("%f %.0f %5.2f", 1/0, 0.5, -1/0) == "inf 0  -inf" and f("%d", "10") == "10" and f("%s", 10) == "10")
	assert(f("%#g %#.0e %#.0f %#x %#o", 100000, 7, 7, 255, 8) == "100000. 7.e+00 7. 0xff 010")
	assert(f("%-5s|%5s|%.2s|%c%c", "ab", "ab", "abc", 104, 105) == "ab   |   ab|ab|hi")
	assert(f("%q", 'a"b\\c\nd\re\0f') == '"a\\"b\\\\c\\\nd\\re\\000f"')
	assert(f("%%") == "%" and f("%5s%%", "x") == "    x%" and f("%s", "a\0b") == "a\0b")
	assert(tonumber("1e5") == 100000 and tonumber("0x10") == 16 and tonumber("010") == 10 and tonumber("1_000") == nil)
	assert(tonumber("inf") == nil and tonumber("nan") == nil and tonumber("0b1") == nil and tonumber("1e500") == math.huge and tonumber("-0x10") == -16)
	assert(table.maxn{ [3] = 1, [2.5] = 1, x = 1 } == 3 and #("x"):rep(3, ",") == 3)
	assert(os.date("!%Y-%m-%d %H:%M:%S %a %A %b %B %j %p %I %y %w %%", 0) == "1970-01-01 00:00:00 Thu Thursday Jan January 001 AM 12 70 4 %")
	assert(os.date("!%c|%x|%X|%D|%F|%T|%R|%e|%U|%W|%V|%G|%u", 86400 * 10) == "Sun Jan 11 00:00:00 1970|01/11/70|00:00:00|01/11/70|1970-01-11|00:00:00|00:00|11|02|01|02|1970|7")
	local d = os.date("!*t", 86399) assert(d.hour == 23 and d.min == 59 and d.sec == 59 and d.wday == 5 and d.yday == 1 and d.isdst == false and d.year == 1970)
	assert(string.char(104, 105) == "hi" and ("abc"):reverse() == "cba" and ("aBc1"):upper() == "ABC1" and ("x"):rep(0) == "" and ("x"):rep(-1) == "" and ("x"):rep(0/0) == "")
	assert(select("#", ("abc"):byte(1, -1)) == 3 and ("abc"):byte(10) == nil and ("abc"):byte(-1) == 99)
	`)
	for source, want := range map[string]string{
		`string.format("%s", nil)`:   "bad argument #2 to 'format' (string expected, got nil",
		`string.format("%s")`:        "bad argument #2 to 'format' (string expected, got no value",
		`string.format("%s", {})`:    "string expected, got table",
		`string.format("%s", true)`:  "string expected, got boolean",
		`string.format("%d", "x")`:   "bad argument #2 to 'format' (number expected, got string",
		`string.format("%d", nil)`:   "number expected, got nil",
		`string.format("%j", 1)`:     "invalid option '%j' to 'format'",
		`string.format("%5j", 1)`:    "invalid option '%5j' to 'format'",
		`string.format("%")`:         "invalid option '%' to 'format'",
		`string.format("%100d", 1)`:  "invalid format (width or precision too long)",
		`string.format("%.100f", 1)`: "invalid format (width or precision too long)",
		`string.format("%--5d", 1)`:  "invalid format (repeated flags)",
		`string.char(256)`:           "bad argument #1 to 'char' (invalid value)",
		`os.date("%Q")`:              `invalid conversion "%Q"`,
		`os.date("%")`:               `invalid conversion "%"`,
		`tonumber("1", 99)`:          "base out of range",
	} {
		if e := h.failure(t, source); !strings.Contains(e.Message, want) || e.Where != "hook.lua:1" {
			t.Errorf("%s: %s: %s", source, e.Where, e.Message)
		}
	}
}

// What the guide says is otherwise than in Lua 5.1.
func TestWhatIsOtherwiseThanInLua51(t *testing.T) {
	h := newHook(t, Options{})
	h.must(t, `assert(tostring(0.1 + 0.2) == "0.30000000000000004")
	assert("010" + 0 == 8 and tonumber("010") == 10)
	assert(not pcall(loadstring "for i = '1', 2 do end"))
	assert(table.foreach == nil and os.setlocale == nil and string.dump == nil)`)
}
