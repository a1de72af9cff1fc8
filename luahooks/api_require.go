package luahooks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pi/luahooks/trust"
	"pi/luavm"
	"pi/stdlib"

	lua "github.com/yuin/gopher-lua"
)

// module is a file or a built-in that a hook required.
type module struct {
	value lua.LValue
	done  bool
}

// require loads a module once per VM: pi.* from the standard library, everything
// else from beside the hook.
func (in *instance) require(L *lua.LState) int {
	name := L.CheckString(1)
	if !trust.IsModuleName(name) {
		luavm.Raise(L, "module name %q: names are words of letters, digits and _ joined by dots", name)
	}
	m := in.requires[name]
	if m == nil {
		m = &module{}
		in.requires[name] = m
		if err := in.loadModule(L, name, m); err != nil {
			delete(in.requires, name)
			luavm.Raise(L, "%v", err)
		}
	}
	if !m.done {
		luavm.Raise(L, "module %s is required while it loads", name)
	}
	L.Push(m.value)
	return 1
}

func (in *instance) loadModule(L *lua.LState, name string, m *module) error {
	if trust.IsBuiltinModule(name) {
		open := stdlib.Module(name)
		if open == nil {
			return fmt.Errorf("module %s does not exist; there are %s", name, strings.Join(stdlib.Names(), ", "))
		}
		m.value, m.done = open(in.vm, L, in.env()), true
		if t, ok := m.value.(*lua.LTable); ok && t.Metatable == lua.LNil {
			in.vm.StrictTable(name, t)
		}
		return nil
	}
	path, code, err := in.chain.guard.FindModule(trust.Required{
		Hook: trust.Source{Path: in.hook.Path, Real: in.real, Scope: in.hook.Scope}, Name: name,
		Loading: in.vm.Loading(), Shown: in.chain.shown, Looked: in.note,
	})
	if err != nil {
		return err
	}
	proto, err := luavm.Compile(in.chain.shown(path), code)
	if err != nil {
		return err
	}
	defer func() {
		if !m.done {
			delete(in.requires, name) // it raised
		}
	}()
	m.value, m.done = callFunction(L, L.NewFunctionFromProto(proto), lua.LString(name)), true
	if m.value == lua.LNil {
		m.value = lua.LTrue
	}
	return nil
}

// note notes a file that require looked at: one that appears there, or changes, counts.
func (in *instance) note(path, sum string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, ok := in.modules[path]; !ok {
		in.modules[path] = sum
	}
}

// modulesChanged reports whether a file that require looked at is another now.
func (in *instance) modulesChanged() bool {
	in.mu.Lock()
	modules := maps.Clone(in.modules)
	in.mu.Unlock()
	for path, sum := range modules {
		if in.chain.guard.Read(path).Sum != sum {
			return true
		}
	}
	return false
}

// files lists the hook's own file and those that require looked at.
func (in *instance) files() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return append(slices.Collect(maps.Keys(in.modules)), in.real)
}
