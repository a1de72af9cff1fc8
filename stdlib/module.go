package stdlib

import (
	"context"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// module is a module's table while it is filled.
type module struct {
	vm    *luavm.VM
	env   *Env
	name  string // without "pi."
	table *lua.LTable
}

// moduleSize is what most modules have room in.
const moduleSize = 12

func newModule(vm *luavm.VM, L *lua.LState, env *Env, name string) *module {
	return &module{vm: vm, env: env, name: name, table: luavm.NewRecord(L, moduleSize)}
}

// fn adds a function that only computes or looks, and so works while the hook loads; see
// luavm's Func for what fn may be.
func (m *module) fn(name string, fn any) {
	luavm.Set(m.table, name, m.vm.Func(m.name+"."+name, fn))
}

// act adds a function that does something, and so raises while the hook loads.
func (m *module) act(name string, fn any) {
	full := m.name + "." + name
	f := m.vm.Func(full, fn)
	call := f.GFunction
	f.GFunction = func(L *lua.LState) int {
		m.env.Ready(L, full)
		return call(L)
	}
	luavm.Set(m.table, name, f)
}

// given adds functions of the program, by their names; they raise while the hook loads, as those
// of act do.
func (m *module) given(functions map[string]lua.LGFunction) {
	for name, call := range functions {
		full := m.name + "." + name
		luavm.Set(m.table, name, m.vm.GFunc(full, func(L *lua.LState) int {
			m.env.Ready(L, full)
			return call(L)
		}))
	}
}

// wait calls f while other jobs may run on the VM, and returns its error. If the job is
// stopped meanwhile, it raises. function is for that message.
func (m *module) wait(L *lua.LState, function string, f func(ctx context.Context) error) error {
	var inner error
	err := m.vm.Wait(L, false, func(ctx context.Context) error {
		inner = f(ctx)
		return nil
	})
	if err != nil {
		luavm.Raise(L, "%s.%s: %v", m.name, function, err)
	}
	return inner
}

// call calls a Lua function with one argument and returns its one result.
func call(L *lua.LState, fn *lua.LFunction, arg lua.LValue) lua.LValue {
	L.Push(fn)
	L.Push(arg)
	L.Call(1, 1)
	result := L.Get(-1)
	L.Pop(1)
	return result
}

// record makes a table of string keys and their values, given in turn: key, value, key,
// value.
func record(L *lua.LState, pairs ...any) *lua.LTable {
	t := luavm.NewRecord(L, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		luavm.Set(t, pairs[i].(string), pairs[i+1].(lua.LValue))
	}
	return t
}

// list makes a list of n elements. It is marked, so that it is [] in JSON when it is
// empty.
func list(L *lua.LState, n int, element func(i int) lua.LValue) *lua.LTable {
	luavm.Building(L, n*listSlot)
	t := luavm.NewList(L, n, func(i int) lua.LValue {
		if i%looksApart == 0 {
			luavm.Building(L, looksApart*listSlot)
		}
		return element(i)
	})
	luavm.MarkList(t)
	return t
}

const (
	listSlot   = 16      // bytes that a list takes for an element, and as many for a text that it leads to
	looksApart = 1 << 10 // elements, characters or pieces between two looks at the job
)

func stringList(L *lua.LState, values []string) *lua.LTable {
	return list(L, len(values), func(i int) lua.LValue { return lua.LString(values[i]) })
}

// maxText is how long a text may be that a function gives to Lua.
const maxText = 64 << 20
