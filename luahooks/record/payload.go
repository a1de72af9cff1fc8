package record

import (
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

// TextOrNil is what SetText puts into a table.
func TextOrNil(text string) lua.LValue {
	if text == "" {
		return lua.LNil
	}
	return lua.LString(text)
}

// SetText sets a field, or leaves it nil when the text is empty.
func SetText(t *lua.LTable, name, text string) {
	if text != "" {
		luavm.Set(t, name, lua.LString(text))
	}
}
