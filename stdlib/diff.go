package stdlib

import (
	"fmt"
	"strings"

	"pi/internal/diff"
	"pi/internal/printable"
	"pi/luavm"

	lua "github.com/yuin/gopher-lua"
)

const (
	maxDiff = 16 << 20 // how much text a difference is made of, in bytes
	// maxDiffLines is how many lines it is made of. They are compared in one go, which nothing
	// can stop: this many take a fifth of a second.
	maxDiffLines = 1_000_000
)

// openDiff makes pi.diff.
//
//	unified(old, new, {from, to, context}?) → text
//
// from and to name the two texts ("a" and "b"), context is the number of lines
// around a change (3). Equal texts differ in nothing: the result is empty.
func openDiff(vm *luavm.VM, L *lua.LState, env *Env) lua.LValue {
	m := newModule(vm, env, "diff")
	m.fn("unified", func(L *lua.LState, before, after string, opts lua.LValue) (string, error) {
		from, to, context := "a", "b", 3
		luavm.Unpack(L, 3, "diff.unified", luavm.Opt("from", &from), luavm.Opt("to", &to), luavm.Opt("context", &context))
		if context < 0 {
			return "", luavm.Misusef("option \"context\" must not be negative")
		}
		if len(before)+len(after) > maxDiff {
			return "", fmt.Errorf("compare texts: they are larger than %s together", printable.Bytes(maxDiff))
		}
		if n := strings.Count(before, "\n") + strings.Count(after, "\n"); n > maxDiffLines {
			return "", fmt.Errorf("compare texts: they have %d lines together, more than %d; compare them in parts", n, maxDiffLines)
		}
		u := diff.Unified{From: from, To: to, Context: context, Look: looking(L)}
		return u.Text(before, after), nil
	})
	return m.table()
}
