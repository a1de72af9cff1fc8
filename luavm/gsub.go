package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/pm"
)

// gsub is string.gsub. gopher-lua's copies the whole subject for every match
// and knows no limit; this one is linear.
func gsub(L *lua.LState) int {
	s, pattern := L.CheckString(1), L.CheckString(2)
	repl := L.Get(3)
	limit := L.OptInt(4, -1)
	switch repl.Type() {
	case lua.LTString, lua.LTNumber, lua.LTTable, lua.LTFunction:
	default:
		RaiseArg(L, 3, "gsub", "string, table or function expected, got %s", repl.Type())
	}
	if L.Get(4) != lua.LNil && limit <= 0 {
		return pushReplaced(L, s, 0)
	}
	matches, err := pm.Find(pattern, []byte(s), 0, limit)
	if err != nil {
		L.RaiseError("%s", err.Error())
	}
	var b strings.Builder
	done := 0
	for _, m := range matches {
		from, to := m.Capture(0), m.Capture(1)
		b.WriteString(s[done:from])
		writeReplacement(L, &b, s, m, repl)
		done = to
		if b.Len() > maxString {
			raiseTooLong(L)
		}
	}
	b.WriteString(s[done:])
	return pushReplaced(L, b.String(), len(matches))
}

func pushReplaced(L *lua.LState, s string, n int) int {
	L.Push(lua.LString(s))
	L.Push(lua.LNumber(n))
	return 2
}

func writeReplacement(L *lua.LState, b *strings.Builder, s string, m *pm.MatchData, repl lua.LValue) {
	var v lua.LValue
	switch repl := repl.(type) {
	case *lua.LTable:
		v = L.GetTable(repl, capture(L, s, m, 1))
	case *lua.LFunction:
		v = callReplacer(L, s, m, repl)
	default:
		expand(L, b, s, m, repl.String())
		return
	}
	switch {
	case lua.LVIsFalse(v):
		b.WriteString(s[m.Capture(0):m.Capture(1)])
	case lua.LVCanConvToString(v):
		b.WriteString(v.String())
	default:
		L.RaiseError("invalid replacement value (a %s)", v.Type())
	}
}

func callReplacer(L *lua.LState, s string, m *pm.MatchData, fn *lua.LFunction) lua.LValue {
	L.Push(fn)
	n := max(1, m.CaptureLength()/2-1)
	for i := 1; i <= n; i++ {
		L.Push(capture(L, s, m, i))
	}
	L.Call(n, 1)
	v := L.Get(-1)
	L.Pop(1)
	return v
}

// expand writes a replacement text, %0 to %9 being captures.
func expand(L *lua.LState, b *strings.Builder, s string, m *pm.MatchData, repl string) {
	for {
		plain, rest, escaped := strings.Cut(repl, "%")
		b.WriteString(plain)
		if !escaped {
			return
		}
		switch {
		case rest == "":
			b.WriteByte('%')
			return
		case rest[0] >= '0' && rest[0] <= '9':
			b.WriteString(capture(L, s, m, int(rest[0]-'0')).String())
		default:
			b.WriteByte(rest[0])
		}
		repl = rest[1:]
	}
}

// capture is the n-th capture; 0, and 1 if there are none, is the match.
func capture(L *lua.LState, s string, m *pm.MatchData, n int) lua.LValue {
	i := 2 * n
	if n == 1 && m.CaptureLength() <= 2 {
		i = 0
	}
	if i >= m.CaptureLength() {
		L.RaiseError("invalid capture index %%%d", n)
	}
	if m.IsPosCapture(i) {
		return lua.LNumber(m.Capture(i))
	}
	return lua.LString(s[m.Capture(i):m.Capture(i+1)])
}
