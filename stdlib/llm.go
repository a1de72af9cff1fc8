package stdlib

import (
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openLLM makes pi.llm.
//
//	complete(model, {system?, messages, tools?}, opts?) → message
//
// asks a model beside the conversation; the program says what opts there are.
func openLLM(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, L, env, "llm")
	luavm.Set(m.table, "complete", vm.GFunc("llm.complete", func(L *lua.LState) int {
		env.Ready(L, "llm.complete")
		return env.Complete(L)
	}))
	return m.table
}
