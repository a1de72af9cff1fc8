package stdlib

import (
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openMCP makes pi.mcp.
//
//	servers() → list                        the MCP servers of the session
//	connect{name, command or url, …} → server   one that this hook alone uses
//	add(name, entry) → server               one that the model finds, too
//
// The program says what can be done with a server.
func openMCP(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, L, env, "mcp")
	for name, call := range env.Servers {
		full := "mcp." + name
		luavm.Set(m.table, name, vm.GFunc(full, func(L *lua.LState) int {
			env.Ready(L, full)
			return call(L)
		}))
	}
	return m.table
}
