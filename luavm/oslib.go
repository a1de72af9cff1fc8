package luavm

import (
	"time"

	lua "github.com/yuin/gopher-lua"
)

// openOS replaces the table that OpenOs made by one of five functions. The others
// cannot be reached any more.
func openOS(L *lua.LState, g *lua.LTable, o Options) {
	all := g.RawGetString("os").(*lua.LTable)
	few := NewRecord(L, 5)
	for _, name := range []string{"clock", "getenv"} {
		Set(few, name, all.RawGetString(name))
	}
	if o.Getenv != nil {
		Set(few, "getenv", L.NewFunction(osGetenv(o.Getenv)))
	}
	setAll(L, few, map[string]lua.LGFunction{"date": osDate(o.Now), "time": osTime(all, o.Now), "difftime": func(L *lua.LState) int {
		L.Push(L.CheckNumber(1) - L.OptNumber(2, 0))
		return 1
	}})
	Set(g, "os", few)
	if loaded, ok := L.G.Registry.RawGetString("_LOADED").(*lua.LTable); ok {
		Set(loaded, "os", few)
	}
}

// osGetenv makes os.getenv for an environment that is not that of the process. A variable
// that is empty counts as one that is not set.
func osGetenv(getenv func(name string) string) lua.LGFunction {
	return func(L *lua.LState) int {
		if v := getenv(L.CheckString(1)); v != "" {
			L.Push(lua.LString(v))
		} else {
			L.Push(lua.LNil)
		}
		return 1
	}
}

// osTime makes os.time: the library's own for a table, and the clock without one.
func osTime(all *lua.LTable, now func() time.Time) lua.LGFunction {
	original := all.RawGetString("time").(*lua.LFunction).GFunction
	return func(L *lua.LState) int {
		if L.GetTop() == 0 {
			L.Push(lua.LNumber(now().Unix()))
			return 1
		}
		materialiseArg(L, 1)
		return original(L)
	}
}
