package luavm

import (
	"fmt"

	lua "github.com/yuin/gopher-lua"
)

// Misuse is an error that raises at the caller's line instead of becoming
// nil, "message".
type Misuse struct{ Message string }

func (m *Misuse) Error() string { return m.Message }

// Misusef makes a *Misuse.
func Misusef(format string, args ...any) error {
	return &Misuse{fmt.Sprintf(format, args...)}
}

// Raise raises an error at the line of the Lua code that called.
func Raise(L *lua.LState, format string, args ...any) {
	L.Error(lua.LString(placed(where(L, 0), fmt.Sprintf(format, args...))), 0)
}

// RaiseArg raises what is wrong with the n-th argument of a function.
func RaiseArg(L *lua.LState, n int, function, format string, args ...any) {
	Raise(L, "bad argument #%d to '%s' (%s)", n, function, fmt.Sprintf(format, args...))
}

// typeName is the type of an argument, for messages.
func typeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}
