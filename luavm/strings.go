package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxString bounds every string that a library or API function builds.
const maxString = 64 << 20

func (vm *VM) openStrings(g *lua.LTable) {
	t := g.RawGetString("string").(*lua.LTable)
	Set(t, "dump", lua.LNil)
	vm.setAll(t, map[string]lua.LGFunction{"rep": stringRep, "gsub": gsub})
	boundByte(t)
	boundFormat(t)
}

// boundByte refuses to push more bytes than fit on the Lua stack before it
// grows to its limit trying.
func boundByte(t *lua.LTable) {
	fn := t.RawGetString("byte").(*lua.LFunction)
	original := fn.GFunction
	fn.GFunction = func(L *lua.LState) int {
		if L.GetTop() > 2 && len(L.CheckString(1)) > maxResults {
			if to, from := L.CheckInt(3), L.CheckInt(2); to < 0 || from < 0 || to-from >= maxResults {
				L.RaiseError("string slice too long")
			}
		}
		return original(L)
	}
}

// boundFormat looks at what is to be formatted before it is copied. What a number
// may become is bounded by the formatter itself.
func boundFormat(t *lua.LTable) {
	fn := t.RawGetString("format").(*lua.LFunction)
	original := fn.GFunction
	fn.GFunction = func(L *lua.LState) int {
		total := 0
		for i := 1; i <= L.GetTop(); i++ {
			if s, ok := L.Get(i).(lua.LString); ok {
				total += len(s)
			}
		}
		if total > maxString {
			raiseTooLong(L)
		}
		n := original(L)
		if s, ok := L.Get(-1).(lua.LString); ok && len(s) > maxString { // %q
			raiseTooLong(L)
		}
		return n
	}
}

func stringRep(L *lua.LState) int {
	s := L.CheckString(1)
	n := L.CheckNumber(2)
	if n <= 0 || s == "" {
		L.Push(lua.LString(""))
		return 1
	}
	if float64(n)*float64(len(s)) > maxString {
		raiseTooLong(L)
	}
	L.Push(lua.LString(strings.Repeat(s, int(n))))
	return 1
}

func raiseTooLong(L *lua.LState) {
	L.RaiseError("resulting string too long (limit %d MiB)", maxString>>20)
}
