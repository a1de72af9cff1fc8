package luavm

import (
	"time"

	lua "github.com/yuin/gopher-lua"
)

// openOS replaces the library by a table of five functions. OpenOs put the
// others there, and leaves no way to them.
func (vm *VM) openOS(g *lua.LTable) {
	all := g.RawGetString("os").(*lua.LTable)
	few := NewRecord(vm.main, 5)
	for _, name := range []string{"clock", "date", "getenv"} {
		Set(few, name, all.RawGetString(name))
	}
	boundDate(few)
	vm.setAll(few, map[string]lua.LGFunction{"time": osTime(all), "difftime": osDiffTime})
	Set(g, "os", few)
	if loaded, ok := vm.main.G.Registry.RawGetString("_LOADED").(*lua.LTable); ok {
		Set(loaded, "os", few)
	}
}

// maxDate is far above any format of a date.
const maxDate = 4 << 10

// boundDate refuses formats that would keep the program busy for seconds.
func boundDate(os *lua.LTable) {
	fn := os.RawGetString("date").(*lua.LFunction)
	original := fn.GFunction
	fn.GFunction = func(L *lua.LState) int {
		if len(L.OptString(1, "")) > maxDate {
			L.RaiseError("format too long (limit %d KiB)", maxDate>>10)
		}
		return original(L)
	}
}

// osTime is the library's for tables and the clock without one.
func osTime(all *lua.LTable) lua.LGFunction {
	original := all.RawGetString("time").(*lua.LFunction).GFunction
	return func(L *lua.LState) int {
		if L.GetTop() == 0 {
			L.Push(lua.LNumber(time.Now().Unix()))
			return 1
		}
		materialiseArg(L, 1)
		return original(L)
	}
}

func osDiffTime(L *lua.LState) int {
	L.Push(L.CheckNumber(1) - L.OptNumber(2, 0))
	return 1
}
