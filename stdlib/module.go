package stdlib

import (
	"context"
	"maps"
	"slices"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// module is a module while its functions are listed. Each is made when a hook first reads it.
type module struct {
	vm    *luavm.VM
	env   *Env
	name  string // without "pi."
	makes map[string]func(full string) *lua.LFunction
}

// moduleSize is what most modules have room in.
const moduleSize = 12

func newModule(vm *luavm.VM, env *Env, name string) *module {
	return &module{vm: vm, env: env, name: name, makes: make(map[string]func(string) *lua.LFunction, moduleSize)}
}

// table is the module for Lua.
func (m *module) table() *lua.LTable {
	return m.vm.NewTable(&luavm.Fields{Of: "pi." + m.name, Names: func() []string { return slices.Sorted(maps.Keys(m.makes)) }, Make: func(name string) lua.LValue {
		if fn := m.makes[name]; fn != nil {
			return fn(m.name + "." + name)
		}
		return nil
	}})
}

// fn adds a function that only computes or looks, and so works while the hook loads; see
// luavm's Func for what fn may be.
func (m *module) fn(name string, fn any) {
	m.makes[name] = func(full string) *lua.LFunction { return m.vm.Func(full, fn) }
}

// act adds a function that does something, and so raises while the hook loads.
func (m *module) act(name string, fn any) {
	m.makes[name] = func(full string) *lua.LFunction {
		f := m.vm.Func(full, fn)
		f.GFunction = m.whenReady(full, f.GFunction)
		return f
	}
}

// stack adds a function that works on the Lua stack itself.
func (m *module) stack(name string, fn lua.LGFunction) {
	m.makes[name] = func(full string) *lua.LFunction { return m.vm.GFunc(full, fn) }
}

// given adds functions of the program, by their names; they raise while the hook loads, as those
// of act do.
func (m *module) given(functions map[string]lua.LGFunction) {
	for name, call := range functions {
		m.makes[name] = func(full string) *lua.LFunction { return m.vm.GFunc(full, m.whenReady(full, call)) }
	}
}

// whenReady returns a function that raises while the hook loads, and then is call.
func (m *module) whenReady(full string, call lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		m.env.Ready(L, full)
		return call(L)
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
