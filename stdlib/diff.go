package stdlib

import (
	"fmt"

	"pi/internal/printable"
	"pi/luavm"

	"github.com/aymanbagabas/go-udiff"
	lua "github.com/yuin/gopher-lua"
)

// maxDiff is how much text a difference is made of, in bytes.
const maxDiff = 16 << 20

// openDiff makes pi.diff.
//
//	unified(old, new, {from, to, context}?) → text
//
// from and to name the two texts ("a" and "b"), context is the number of lines
// around a change (3). Equal texts differ in nothing: the result is empty.
func openDiff(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, L, env, "diff")
	m.fn("unified", func(L *lua.LState, before, after string, opts lua.LValue) (string, error) {
		from, to, context := "a", "b", 3
		luavm.Unpack(L, 3, "diff.unified", luavm.Opt("from", &from), luavm.Opt("to", &to), luavm.Opt("context", &context))
		if context < 0 {
			return "", luavm.Misusef("option \"context\" must not be negative")
		}
		if len(before)+len(after) > maxDiff {
			return "", fmt.Errorf("compare texts: they are larger than %s together", printable.Bytes(maxDiff))
		}
		return udiff.ToUnified(from, to, before, udiff.Lines(before, after), context)
	})
	return m.table
}
