package luavm

import (
	"pi/luavm/explain"

	lua "github.com/yuin/gopher-lua"
)

// NewChunk makes the function of a file. Messages about misspelt names look among those of
// the file.
func (vm *VM) NewChunk(L *lua.LState, file *lua.FunctionProto) *lua.LFunction {
	hintsOf(vm.main).Note(file)
	return L.NewFunctionFromProto(file)
}

// hintsKey is where the hints of a VM are in its registry.
const hintsKey = "pi.hints"

// hintsValue is what messages of a VM are helped with.
type hintsValue struct {
	opaque
	hints *explain.Hints
}

func setHints(L *lua.LState, h *explain.Hints) {
	L.Get(lua.RegistryIndex).(*lua.LTable).RawSetString(hintsKey, &hintsValue{hints: h})
}

// hintsOf returns the hints of the VM of a thread.
func hintsOf(L *lua.LState) *explain.Hints {
	v, ok := L.Get(lua.RegistryIndex).(*lua.LTable).RawGetString(hintsKey).(*hintsValue)
	if !ok {
		return new(explain.Hints)
	}
	return v.hints
}

// LineOfResult returns the line in which a function writes a field of what it returns, or
// without a field the one in which it returns something; the line in which the function
// begins, if that is none or more than one.
func LineOfResult(fn *lua.FunctionProto, field string) int { return explain.LineOfResult(fn, field) }
