package luavm

import lua "github.com/yuin/gopher-lua"

// openOS replaces the table that OpenOs made by one of five functions. The others
// cannot be reached any more.
func openOS(L *lua.LState, g *lua.LTable, o Options) {
	all := g.RawGetString("os").(*lua.LTable)
	few := NewRecord(L, 5)
	for _, name := range []string{"clock", "getenv"} {
		Set(few, name, all.RawGetString(name))
	}
	if o.Getenv != nil { // an environment that is not that of the process; a variable that is empty counts as not set
		Set(few, "getenv", L.NewFunction(func(L *lua.LState) int {
			if v := o.Getenv(L.CheckString(1)); v != "" {
				L.Push(lua.LString(v))
			} else {
				L.Push(lua.LNil)
			}
			return 1
		}))
	}
	original := all.RawGetString("time").(*lua.LFunction).GFunction
	setAll(L, few, map[string]lua.LGFunction{
		"date": func(L *lua.LState) int { return dateOf(L, o.Now()) },
		"time": func(L *lua.LState) int { // the library's own for a table, and the clock without one
			if L.GetTop() == 0 {
				L.Push(lua.LNumber(o.Now().Unix()))
				return 1
			}
			materialiseArg(L, 1)
			return original(L)
		},
		"difftime": func(L *lua.LState) int {
			L.Push(L.CheckNumber(1) - L.OptNumber(2, 0))
			return 1
		},
	})
	Set(g, "os", few)
	if loaded, ok := L.G.Registry.RawGetString("_LOADED").(*lua.LTable); ok {
		Set(loaded, "os", few)
	}
}
