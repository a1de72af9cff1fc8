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
	m := newModule(vm, env, "mcp")
	m.given(env.Servers)
	return m.table()
}
