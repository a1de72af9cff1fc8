package stdlib

import (
	"encoding/json"
	"fmt"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// openJSON makes pi.json: encode(value), decode(text) and null. A decoded value
// that is not changed encodes as it came, empty lists included. null stands for
// null where nil cannot: in lists, and as a whole text.
func openJSON(vm *luavm.VM, L *lua.LState, _ *Env) lua.LValue {
	t := luavm.NewRecord(L, 3)
	luavm.Set(t, "encode", vm.Func("json.encode", func(L *lua.LState, v lua.LValue) (string, error) {
		b, err := luavm.EncodeJSON(L, v, luavm.JSON{})
		if err != nil {
			return "", luavm.Misusef("%v", err)
		}
		return string(b), nil
	}))
	luavm.Set(t, "decode", vm.Func("json.decode", func(text string) (lua.LValue, error) {
		v, err := vm.DecodeJSON(json.RawMessage(text), luavm.JSON{})
		if err != nil {
			return nil, fmt.Errorf("decode JSON: %w", err)
		}
		if v == lua.LNil {
			v = luavm.Null
		}
		return v, nil
	}))
	luavm.Set(t, "null", luavm.Null)
	return t
}
