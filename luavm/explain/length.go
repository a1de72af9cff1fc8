package explain

import (
	"slices"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

const noLength = "__len undefined"

// measured names the operand of # that has no length, and says what it is.
func measured(L *lua.LState, message string, h *Hints) string {
	head, isLength := strings.CutSuffix(message, noLength)
	if !isLength {
		return message
	}
	head += "attempt to get the length of "
	names, kind := measuredHere(L, false)
	if kind == "" {
		names, kind = measuredHere(L, true)
	}
	switch list := quoted(names); {
	case kind == "":
		return head + "what has none"
	case list == "":
		return head + "a " + kind + " value"
	case kind == "nil" && !strings.Contains(list, " or "):
		return head + list + ", which is nil" + h.hint(L, names[0]) + h.ofFailed(L, 0, names[0])
	default:
		return head + list + ", which is " + aValue(kind)
	}
}

// measuredHere lists the operands of # on the current line that have no length, "" for one
// without a name, and their type; "" if they have several or none. A number may be the length
// of an operand, which stands where that stood; with numbers those count too.
func measuredHere(L *lua.LState, numbers bool) (names []string, kind string) {
	fn, line := functionAt(L, 0)
	if fn == nil || fn.IsG {
		return nil, ""
	}
	var kinds []string
	for pc, inst := range fn.Proto.Code {
		register := argB(inst)
		if opOf(inst) != lua.OP_LEN || fn.Proto.DbgSourcePositions[pc] != line || register >= firstConstant {
			continue
		}
		switch v := L.Get(register + 1); v.Type() {
		case lua.LTString, lua.LTTable:
		case lua.LTNumber:
			if argA(inst) == register && !numbers {
				continue
			}
			fallthrough
		default:
			names, kinds = append(names, writtenSurely(fn.Proto, pc, register)), append(kinds, v.Type().String())
		}
	}
	if kinds = slices.Compact(kinds); len(kinds) != 1 {
		return nil, ""
	}
	return names, kinds[0]
}
