package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxString bounds every string that a library or API function builds.
const maxString = 64 << 20

func (vm *VM) openStrings(g *lua.LTable) {
	t := g.RawGetString("string").(*lua.LTable)
	t.RawSetString("dump", lua.LNil)
	vm.setAll(t, map[string]lua.LGFunction{"rep": stringRep})
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
