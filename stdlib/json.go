package stdlib

import (
	"encoding/json"
	"fmt"

	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// maxIndent is how many blanks a level of JSON has at most.
const maxIndent = 16

// openJSON makes pi.json: encode(value, {indent, keys}?), decode(text), list(table?) and null. indent
// is how many blanks a level has, keys are those that come first in each object. A decoded value
// that is not changed encodes as it came, empty lists included. null stands for
// null where nil cannot: in lists, and as a whole text. list makes a list that is [] when
// it is empty, or makes the table that it is given one.
func openJSON(vm *luavm.VM, L *lua.LState, _ *Env) lua.LValue {
	t := luavm.NewRecord(L, 4)
	luavm.Set(t, "encode", vm.Func("json.encode", func(L *lua.LState, v, opts lua.LValue) (string, error) {
		how := luavm.Layout{Most: maxData}
		luavm.Unpack(L, 2, "json.encode", luavm.Opt("indent", &how.Indent), luavm.Opt("keys", &how.Keys))
		if how.Indent < 0 || how.Indent > maxIndent {
			return "", luavm.Misusef("option \"indent\" is a number of blanks up to %d", maxIndent)
		}
		b, err := luavm.EncodeJSON(L, v, luavm.JSON{})
		if err == nil && (how.Indent > 0 || how.Keys != nil) {
			b, err = luavm.LayOut(L, b, how)
		}
		if err != nil {
			return "", luavm.Misusef("%v", err)
		}
		luavm.Room(L, len(b))
		return string(b), nil
	}))
	luavm.Set(t, "decode", vm.Func("json.decode", func(L *lua.LState, text string) (lua.LValue, error) {
		luavm.Building(L, len(text))
		v, err := vm.DecodeJSON(json.RawMessage(text), luavm.JSON{})
		if err != nil {
			return nil, fmt.Errorf("decode JSON: %w", err)
		}
		if v == lua.LNil {
			v = luavm.Null
		}
		return v, nil
	}))
	luavm.Set(t, "list", vm.Func("json.list", func(L *lua.LState, v lua.LValue) (lua.LValue, error) {
		switch v := v.(type) {
		case *lua.LNilType:
			return list(L, 0, nil), nil
		case *lua.LTable:
			luavm.MarkList(v)
			return v, nil
		}
		return nil, luavm.Misusef("a table expected, got %s", v.Type())
	}))
	luavm.Set(t, "null", luavm.Null)
	return t
}
