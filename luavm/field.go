package luavm

import (
	"slices"

	lua "github.com/yuin/gopher-lua"
)

// Set sets a field of a table, or removes it if v is nil, without asking
// a metatable. It is t.RawSetString, which the compiler would copy to each of
// the some hundred places that build a table, 600 bytes at a time.
//
//go:noinline
func Set(t *lua.LTable, name string, v lua.LValue) { t.RawSetString(name, v) }

// NewRecord makes a table with room for n fields.
//
//go:noinline
func NewRecord(L *lua.LState, n int) *lua.LTable { return L.CreateTable(0, n) }

// TextOrNil is what SetText puts into a table.
func TextOrNil(text string) lua.LValue {
	if text == "" {
		return lua.LNil
	}
	return lua.LString(text)
}

// SetText sets a field, or leaves it nil when the text is empty.
func SetText(t *lua.LTable, name, text string) {
	if text != "" {
		Set(t, name, lua.LString(text))
	}
}

// NewList makes a list of n elements.
func NewList(L *lua.LState, n int, f func(i int) lua.LValue) *lua.LTable {
	t := L.CreateTable(n, 0)
	for i := range n {
		t.RawSetInt(i+1, f(i)) // Append would skip nil
	}
	return t
}

// setAll puts Go functions of the library itself into a table.
func setAll(L *lua.LState, t *lua.LTable, fns map[string]lua.LGFunction) {
	for name, fn := range fns {
		Set(t, name, L.NewFunction(fn))
	}
}

// Keys lists the keys of a table that are strings, sorted.
func Keys(t *lua.LTable) (names []string) {
	for k, _ := t.Next(lua.LNil); k != lua.LNil; k, _ = t.Next(k) {
		if name, ok := k.(lua.LString); ok {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}
