package luavm

import lua "github.com/yuin/gopher-lua"

// Set sets a field of a table, or takes it away when v is nil, without asking
// a metatable. It is t.RawSetString, which the compiler would copy to each of
// the some hundred places that build a table, 600 bytes at a time.
//
//go:noinline
func Set(t *lua.LTable, name string, v lua.LValue) { t.RawSetString(name, v) }

// NewRecord makes a table with room for n fields.
//
//go:noinline
func NewRecord(L *lua.LState, n int) *lua.LTable { return L.CreateTable(0, n) }
