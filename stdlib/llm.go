package stdlib

import (
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openLLM makes pi.llm.
//
//	complete(model, {system?, messages, tools?}, opts?) → message
//	stream(model, {system?, messages, tools?}, {on_delta, …}) → message
//
// ask a model beside the conversation; the program says what opts there are.
func openLLM(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "llm")
	m.given(map[string]lua.LGFunction{"complete": env.Complete, "stream": env.Stream})
	return m.table()
}
