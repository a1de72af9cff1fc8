package luavm

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// string.format as Lua 5.1 has it, which is that of C.

// formatSpec is one directive: % flags width precision verb.
type formatSpec struct {
	flags            string // those of "-+ #0" that are set
	width, precision int    // precision is -1 if there is none
	verb             byte
}

func (f *formatSpec) has(flag byte) bool { return strings.IndexByte(f.flags, flag) >= 0 }

// stringFormat is string.format.
func stringFormat(L *lua.LState) int {
	format := L.CheckString(1)
	out := stringBuilder{L: L}
	arg := 1
	for {
		plain, rest, more := strings.Cut(format, "%")
		out.add(plain)
		if !more {
			break
		}
		if strings.HasPrefix(rest, "%") {
			out.add("%")
			format = rest[1:]
			continue
		}
		var spec formatSpec
		spec, format = readSpec(L, rest)
		arg++
		spec.write(L, &out, arg)
	}
	L.Push(lua.LString(out.String()))
	return 1
}

// readSpec reads a directive of a format behind its %, and returns the rest of the
// format; a wrong one raises.
func readSpec(L *lua.LState, s string) (f formatSpec, rest string) {
	whole := s
	for ; s != "" && strings.IndexByte("-+ #0", s[0]) >= 0; s = s[1:] {
		if f.has(s[0]) {
			L.RaiseError("invalid format (repeated flags)")
		}
		f.flags += s[:1]
	}
	f.width, s = readDigits(L, s)
	f.precision = -1
	if strings.HasPrefix(s, ".") {
		f.precision, s = readDigits(L, s[1:])
	}
	if s == "" || strings.IndexByte("cdiouxXeEfgGqs", s[0]) < 0 {
		bad := whole[:min(len(whole)-len(s)+1, len(whole))]
		L.RaiseError("invalid option '%%%s' to 'format'", bad)
	}
	f.verb = s[0]
	return f, s[1:]
}

// readDigits reads a width or a precision, of two digits at most.
func readDigits(L *lua.LState, s string) (n int, rest string) {
	for i := 0; s != "" && s[0] >= '0' && s[0] <= '9'; i++ {
		if i == 2 {
			L.RaiseError("invalid format (width or precision too long)")
		}
		n, s = n*10+int(s[0]-'0'), s[1:]
	}
	return n, s
}

// write appends the argument with that number to out as the directive says; one of the
// wrong type raises.
func (f *formatSpec) write(L *lua.LState, out *stringBuilder, arg int) {
	switch f.verb {
	case 'c':
		f.pad(out, "", string([]byte{byte(int64(f.number(L, arg)))}), false)
	case 'd', 'i':
		v := float64(f.number(L, arg))
		n := magnitude(v)
		f.integer(out, f.sign(v < 0 && n > 0), strconv.FormatUint(n, 10))
	case 'u', 'o', 'x', 'X':
		f.unsigned(out, float64(f.number(L, arg)))
	case 'q':
		quote(out, f.text(L, arg))
	case 's':
		s := f.text(L, arg)
		if f.precision >= 0 && f.precision < len(s) {
			s = s[:f.precision]
		}
		f.pad(out, "", s, false)
	default:
		f.float(out, float64(f.number(L, arg)))
	}
}

// number is an argument as a number; it raises if it is none.
func (f *formatSpec) number(L *lua.LState, arg int) lua.LNumber {
	switch v := L.Get(arg).(type) {
	case lua.LNumber:
		return v
	case lua.LString:
		if n, ok := toNumber(string(v)); ok {
			return n
		}
	}
	RaiseArg(L, arg, "format", "number expected, got %s", typeName(L, arg))
	return 0
}

// text is an argument as a text; it raises if it is none.
func (f *formatSpec) text(L *lua.LState, arg int) string {
	switch v := L.Get(arg).(type) {
	case lua.LNumber, lua.LString:
		return v.String()
	}
	RaiseArg(L, arg, "format", "string expected, got %s; tostring() makes one", typeName(L, arg))
	return ""
}

// magnitude is the whole part of n without its sign.
func magnitude(n float64) uint64 {
	switch n = math.Trunc(math.Abs(n)); {
	case n != n:
		return 0
	case n >= 1<<64:
		return math.MaxUint64
	}
	return uint64(n)
}

// unsigned writes %u, %o, %x and %X.
func (f *formatSpec) unsigned(out *stringBuilder, v float64) {
	n, prefix := magnitude(v), ""
	if v < 0 {
		n = -n // as C stores it
	}
	if f.has('#') && n != 0 {
		prefix = map[byte]string{'o': "0", 'x': "0x", 'X': "0X"}[f.verb]
	}
	digits := strconv.FormatUint(n, map[byte]int{'u': 10, 'o': 8, 'x': 16, 'X': 16}[f.verb])
	if f.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	f.integer(out, prefix, digits)
}

// integer writes a whole number: sign or prefix, zeros up to the precision, digits.
func (f *formatSpec) integer(out *stringBuilder, sign, digits string) {
	digits = strings.Repeat("0", max(0, f.precision-len(digits))) + digits
	f.pad(out, sign, digits, f.precision < 0)
}

// sign returns what stands before the digits of a number: -, or what a flag asks for, or
// "".
func (f *formatSpec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case f.has('+'):
		return "+"
	case f.has(' '):
		return " "
	}
	return ""
}

// float writes a number for e, f, g and their capitals. Go's fmt makes the digits; the
// sign and the padding are added as C does.
func (f *formatSpec) float(out *stringBuilder, v float64) {
	precision, verb := f.precision, "%.*"
	if precision < 0 {
		precision = 6
	}
	if f.has('#') {
		verb = "%#.*"
	}
	digits, finite := fmt.Sprintf(verb+string(rune(f.verb)), precision, math.Abs(v)), !math.IsInf(v, 0) && v == v
	if !finite {
		digits = strings.TrimPrefix(digits, "+") // of +Inf
		if digits = strings.ToLower(digits); f.verb < 'a' {
			digits = strings.ToUpper(digits)
		}
	}
	f.pad(out, f.sign(math.Signbit(v) && v == v), digits, finite)
}

// pad writes sign and s, filled with blanks to the width, or with zeros between them if
// zeros is true and the directive asks for that.
func (f *formatSpec) pad(out *stringBuilder, sign, s string, zeros bool) {
	fill := max(0, f.width-len(sign)-len(s))
	switch {
	case f.has('-'):
		out.add(sign)
		out.add(s)
		out.add(strings.Repeat(" ", fill))
	case f.has('0') && zeros:
		out.add(sign)
		out.add(strings.Repeat("0", fill))
		out.add(s)
	default:
		out.add(strings.Repeat(" ", fill))
		out.add(sign)
		out.add(s)
	}
}

// quote writes a text so that Lua reads it back.
func quote(out *stringBuilder, s string) {
	out.add(`"`)
	for {
		i := strings.IndexAny(s, "\"\\\n\r\x00")
		if i < 0 {
			break
		}
		out.add(s[:i])
		switch s[i] {
		case '\r':
			out.add(`\r`)
		case 0:
			out.add(`\000`)
		default:
			out.add(`\` + s[i:i+1])
		}
		s = s[i+1:]
	}
	out.add(s)
	out.add(`"`)
}
