package luavm

import (
	"errors"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// toNumberFunc is tonumber(value, base?).
func toNumberFunc(L *lua.LState) int {
	n, ok := lua.LNumber(0), false
	if base := L.OptInt(2, 10); base != 10 {
		if base < 2 || base > 36 {
			RaiseArg(L, 2, "tonumber", "base out of range")
		}
		n, ok = digitsToNumber(L.CheckString(1), base)
	} else {
		switch v := L.CheckAny(1).(type) {
		case lua.LNumber:
			n, ok = v, true
		case lua.LString:
			n, ok = toNumber(string(v))
		}
	}
	if !ok {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(n)
	return 1
}

const luaSpace = " \t\n\v\f\r"

// maxNumber is the longest text that is read as a number: nothing can stop the
// reading of one with millions of digits.
const maxNumber = 64 << 10

// toNumber reads a number as Lua writes it. Go's own reader takes more: octals,
// underscores, inf.
func toNumber(s string) (lua.LNumber, bool) {
	if s = strings.Trim(s, luaSpace); len(s) > maxNumber {
		return 0, false
	}
	if hex := strings.TrimLeft(s, "+-"); len(hex) > 1 && hex[0] == '0' && hex[1]|0x20 == 'x' {
		return digitsToNumber(s, 16)
	}
	if strings.Trim(s, "+-.0123456789eE") != "" { // ParseFloat knows other forms too
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range is infinite or 0
		return 0, false
	}
	return lua.LNumber(n), true
}

// digitsToNumber reads a whole number in a base, with a sign, and 0x before it in base
// 16; false if the text is no such number.
func digitsToNumber(s string, base int) (lua.LNumber, bool) {
	s = strings.Trim(s, luaSpace)
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if base == 16 && len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		digits = digits[2:]
	}
	if digits == "" || len(s)-len(digits) > len("-0x") || len(s) > maxNumber {
		return 0, false
	}
	n := 0.0
	for _, c := range []byte(strings.ToLower(digits)) {
		d := int(c) - '0'
		if c >= 'a' {
			d = int(c) - 'a' + 10
		} else if d > 9 {
			return 0, false
		}
		if d < 0 || d >= base {
			return 0, false
		}
		n = n*float64(base) + float64(d)
	}
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return lua.LNumber(n), true
}
