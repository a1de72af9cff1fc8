package stdlib

import (
	"pi/agent/schema"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// maxData is how long a text may be that is read as data, or made for people to read.
const maxData = 8 << 20

// schemaCheck is schema.check(schema, value) → true, or nil and a list of {path, message}.
func (m *module) schemaCheck(L *lua.LState, s *lua.LTable, value lua.LValue) int {
	checker, err := schema.Compile(m.encoded(L, s, "the schema"))
	if err == nil && len(checker.Dropped) > 0 {
		luavm.Raise(L, "schema.check: the schema cannot be used: %s", checker.Dropped[0])
	}
	if err != nil {
		luavm.Raise(L, "schema.check: %v", err)
	}
	faults, err := checker.Faults(m.encoded(L, value, "the value"))
	if err != nil {
		luavm.Raise(L, "schema.check: %v", err)
	}
	if len(faults) == 0 {
		L.Push(lua.LTrue)
		return 1
	}
	L.Push(lua.LNil)
	L.Push(list(L, len(faults), func(i int) lua.LValue {
		return record(L, "path", lua.LString(faults[i].Path), "message", lua.LString(faults[i].What))
	}))
	return 2
}

// encoded is a value as JSON of at most maxData; what cannot be that raises.
func (m *module) encoded(L *lua.LState, v lua.LValue, what string) []byte {
	raw, err := luavm.EncodeJSON(L, v, luavm.JSON{})
	if err != nil {
		luavm.Raise(L, "schema.check: %s: %v", what, err)
	}
	if len(raw) > maxData {
		luavm.Raise(L, "schema.check: %s is larger than 8 MiB", what)
	}
	luavm.Building(L, 8*len(raw)) // its parts
	return raw
}
