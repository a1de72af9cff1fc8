package explain

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// ofFailed ends a message about the nil that a call of a function of the program returned: the
// call failed, and why is its second result, which is lost. level is that of the Lua function
// on the stack.
func (h *Hints) ofFailed(L *lua.LState, level int, written string) string {
	name, isCall := strings.CutSuffix(written, "(…)")
	of, member, _ := strings.Cut(name, ".")
	if !isCall || h.Fails == nil || !h.Fails(name) {
		return ""
	}
	t, ok := valueAt(L, level, of).(*lua.LTable)
	if !ok {
		return ""
	}
	if fn, ok := t.RawGetString(member).(*lua.LFunction); !ok || !fn.IsG {
		return "" // one of the hook has the same name
	}
	return "; " + name + " returned nil and a message: local r, err = " + name + "(…), or assert(" + name + "(…))"
}

// valueAt is the value of a name in the Lua function at a level of the stack.
func valueAt(L *lua.LState, level int, name string) lua.LValue {
	dbg, ok := L.GetStack(level)
	fn, _ := functionAt(L, level)
	if !ok || fn == nil || fn.IsG {
		return lua.LNil
	}
	var found lua.LValue
	for i := 1; ; i++ {
		local, v := L.GetLocal(dbg, i)
		if local == "" {
			break
		}
		if local == name {
			found = v
		}
	}
	if found != nil {
		return found
	}
	for i, upvalue := range fn.Proto.DbgUpvalues {
		if upvalue == name && i < len(fn.Upvalues) {
			return fn.Upvalues[i].Value()
		}
	}
	return L.G.Global.RawGetString(name)
}
