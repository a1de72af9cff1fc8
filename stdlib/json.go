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
		if !json.Valid([]byte(text)) {
			var v any // only the decoder says what is wrong
			return nil, fmt.Errorf("decode JSON: %w", json.Unmarshal([]byte(text), &v))
		}
		v, err := vm.DecodeJSON(json.RawMessage(text), luavm.JSON{})
		if v == lua.LNil && err == nil {
			v = luavm.Null
		}
		return v, err
	}))
	luavm.Set(t, "null", luavm.Null)
	return t
}
