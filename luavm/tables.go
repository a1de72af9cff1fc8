package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxResults is how many values one call may return. The Lua stack holds more,
// but grows in small steps.
const maxResults = 100_000

// openTables makes the functions that look into tables work on stubs.
func (vm *VM) openTables(g *lua.LTable) {
	for _, name := range []string{"ipairs", "pairs", "next", "rawset", "setmetatable"} {
		touchFirst(g, name)
	}
	vm.setAll(g, map[string]lua.LGFunction{"unpack": unpack, "getmetatable": getMetatable, "rawget": rawGet})
	t := g.RawGetString("table").(*lua.LTable)
	for _, name := range []string{"getn", "insert", "maxn", "remove", "sort"} {
		touchFirst(t, name)
	}
	vm.setAll(t, map[string]lua.LGFunction{"concat": tableConcat})
}

// touchFirst wraps a function so that a stub given as its first argument has
// filled itself before. The function keeps its identity and upvalues.
func touchFirst(t *lua.LTable, name string) {
	fn := t.RawGetString(name).(*lua.LFunction)
	original := fn.GFunction
	fn.GFunction = func(L *lua.LState) int {
		materialiseArg(L, 1)
		return original(L)
	}
}

func materialiseArg(L *lua.LState, n int) {
	if t, ok := L.Get(n).(*lua.LTable); ok {
		Materialise(L, t)
	}
}

func unpack(L *lua.LState) int {
	t := L.CheckTable(1)
	Materialise(L, t)
	from, to := L.OptNumber(2, 1), L.OptNumber(3, lua.LNumber(t.Len()))
	if from > to {
		return 0
	}
	if to-from >= maxResults {
		L.RaiseError("too many results to unpack")
	}
	n := 0
	for i := int(from); i <= int(to); i++ {
		L.Push(t.RawGet(lua.LNumber(i)))
		n++
	}
	return n
}

// tableConcat is written anew because gopher-lua's pushes the whole list on
// the Lua stack and knows no limit.
func tableConcat(L *lua.LState) int {
	t := L.CheckTable(1)
	Materialise(L, t)
	sep := L.OptString(2, "")
	from, to := L.OptInt(3, 1), L.OptInt(4, t.Len())
	var b strings.Builder
	for i := from; i <= to; i++ {
		v := t.RawGet(lua.LNumber(i))
		if !lua.LVCanConvToString(v) {
			L.RaiseError("invalid value (%s) at index %d in table for 'concat'", v.Type(), i)
		}
		b.WriteString(v.String())
		if i < to {
			b.WriteString(sep)
		}
		if b.Len() > maxString {
			raiseTooLong(L)
		}
	}
	L.Push(lua.LString(b.String()))
	return 1
}

// getMetatable hides the metatables that mark stubs and decoded JSON.
func getMetatable(L *lua.LState) int {
	v := L.CheckAny(1)
	if t, ok := v.(*lua.LTable); ok && marked(t) {
		L.Push(lua.LFalse)
		return 1
	}
	L.Push(L.GetMetatable(v))
	return 1
}
