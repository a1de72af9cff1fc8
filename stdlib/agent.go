package stdlib

import (
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openAgent makes pi.agent.
//
//	run{prompt, agent?, …} → result     has another agent work, and waits for what comes of it
//	start{prompt, agent?, …} → handle   does not wait
//
// The program says what can be asked of an agent, and what can be done with one that works.
func openAgent(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "agent")
	m.given(env.Agents)
	return m.table()
}
