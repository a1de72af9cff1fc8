package luavm

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxResults is how many values one call may return. The Lua stack holds more,
// but grows in small steps.
const maxResults = 100_000

// openTables makes the functions that look into tables work on stubs.
func openTables(L *lua.LState, g *lua.LTable) {
	for _, name := range []string{"ipairs", "pairs", "next", "rawset", "setmetatable"} {
		touchFirst(g, name)
	}
	pairs := g.RawGetString("pairs").(*lua.LFunction)
	ofTable := pairs.GFunction
	pairs.GFunction = func(L *lua.LState) int {
		if t := valueTable(L, L.Get(1)); t != nil {
			L.Replace(1, t)
		}
		return ofTable(L)
	}
	setAll(L, g, map[string]lua.LGFunction{"unpack": unpack, "getmetatable": getMetatable, "rawget": rawGet})
	t := g.RawGetString("table").(*lua.LTable)
	for _, name := range []string{"getn", "insert", "remove", "sort"} {
		touchFirst(t, name)
	}
	setAll(L, t, map[string]lua.LGFunction{"concat": tableConcat, "maxn": tableMaxn})
}

// touchFirst makes the function of that name fill a stub that is its first argument
// before it runs. The function value itself stays the same.
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

// unpack is unpack(list, from?, to?).
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

// tableConcat is table.concat, written anew because gopher-lua's pushes the whole list
// on the Lua stack and has no limit.
func tableConcat(L *lua.LState) int {
	t := L.CheckTable(1)
	Materialise(L, t)
	sep := L.OptString(2, "")
	from, to := L.OptInt(3, 1), L.OptInt(4, t.Len())
	size := 0
	each := func(f func(piece string)) {
		for i := from; i <= to; i++ {
			v := t.RawGet(lua.LNumber(i))
			if !lua.LVCanConvToString(v) {
				L.RaiseError("invalid value (%s) at index %d in table for 'concat'", v.Type(), i)
			}
			if f(v.String()); i < to {
				f(sep)
			}
		}
	}
	each(func(piece string) {
		if size += len(piece); size > maxString {
			raiseTooLong(L)
		}
	})
	Room(L, size)
	var b strings.Builder
	b.Grow(size)
	each(func(piece string) { b.WriteString(piece) })
	L.Push(lua.LString(b.String()))
	return 1
}

// tableMaxn is table.maxn: the largest number among the keys, 0 if there is none.
func tableMaxn(L *lua.LState) int {
	t := L.CheckTable(1)
	Materialise(L, t)
	most := lua.LNumber(0)
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if n, ok := k.(lua.LNumber); ok {
			most = max(most, n)
		}
	}
	L.Push(most)
	return 1
}

// getMetatable is getmetatable; it returns false for the metatables that mark stubs and
// decoded JSON.
func getMetatable(L *lua.LState) int {
	v := L.CheckAny(1)
	if t, ok := v.(*lua.LTable); ok && markOf(t) != nil {
		L.Push(lua.LFalse)
		return 1
	}
	L.Push(L.GetMetatable(v))
	return 1
}
