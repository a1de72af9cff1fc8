package luavm

import (
	lua "github.com/yuin/gopher-lua"
)

// NewChunk makes the function of a file. Messages about misspelt names look among those of
// the file.
func (vm *VM) NewChunk(L *lua.LState, file *lua.FunctionProto) *lua.LFunction {
	hintsOf(vm.main).note(file)
	return L.NewFunctionFromProto(file)
}

// hintsKey is where the hints of a VM are in its registry.
const hintsKey = "pi.hints"

// hintsValue is what messages of a VM are helped with.
type hintsValue struct {
	opaque
	hints *hints
}

func setHints(L *lua.LState, h *hints) {
	L.Get(lua.RegistryIndex).(*lua.LTable).RawSetString(hintsKey, &hintsValue{hints: h})
}

// hintsOf returns the hints of the VM of a thread.
func hintsOf(L *lua.LState) *hints {
	v, ok := L.Get(lua.RegistryIndex).(*lua.LTable).RawGetString(hintsKey).(*hintsValue)
	if !ok {
		return new(hints)
	}
	return v.hints
}
